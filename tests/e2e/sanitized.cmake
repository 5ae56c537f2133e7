# SPDX-License-Identifier: Apache-2.0
# With sanitizers, which take ten times as long: a few tests of each part of the service.  A report of
# any process fails them (tests/support/sanitized.py).
if(NOT TARGET octavod OR NOT TARGET octavo)
  return()
endif()

# sanitized_e2e(PART TEST ...): of PART_test.py, the tests TEST (CLASS.NAME).
function(sanitized_e2e part)
  add_test(NAME e2e.sanitized.${part}
           COMMAND ${OCTAVO_SYSTEM_PYTHON} -B ${CMAKE_SOURCE_DIR}/tests/support/sanitized.py
                   ${OCTAVO_SYSTEM_PYTHON} -B ${part}_test.py ${ARGN}
           WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(e2e.sanitized.${part} PROPERTIES LABELS e2e TIMEOUT 300
    ENVIRONMENT "OCTAVO=$<TARGET_FILE:octavo>;OCTAVOD=$<TARGET_FILE:octavod>")
endfunction()

sanitized_e2e(jobs
  Jobs.test_a_detached_job_gives_the_bytes_of_a_local_one
  Jobs.test_a_job_that_fails_says_why_to_whoever_asks
  Jobs.test_cancel_ends_waiting_and_running_jobs)
sanitized_e2e(kept_results
  KeptResults.test_an_equal_job_is_answered_from_the_store_also_after_a_kill)
sanitized_e2e(resume
  Resume.test_a_broken_connection_continues)
sanitized_e2e(workers
  Workers.test_a_killed_worker_fails_its_job_alone
  Workers.test_can_be_replaced_by_threads)
sanitized_e2e(lifecycle
  Lifecycle.test_deadline_passes
  Lifecycle.test_interrupted_client_cancels_its_job
  Lifecycle.test_killed_server_is_said
  Lifecycle.test_log_says_whose_job_ended_how
  Lifecycle.test_second_signal_stops_at_once)
sanitized_e2e(bad_input
  BadInput.test_random_bytes
  BadInput.test_cycle
  BadInput.test_samples_of_the_wrong_shape
  BadInput.test_more_nodes_than_the_service_allows)
