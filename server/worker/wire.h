// SPDX-License-Identifier: Apache-2.0
// Converts requests, errors and outcomes of jobs to frames and back.  What comes from a worker is
// checked: sizes, places, names and texts.
#pragma once

#include <string_view>

#include "core/base/blob.h"
#include "core/base/status.h"
#include "core/job/job.h"
#include "octavo/worker/v1/worker.pb.h"

namespace octavo::server::worker {

namespace v1 = octavo::worker::v1;

// The blobs of a request in a fixed order, each with its role.
struct RequestBlob {
  v1::Input::Role role = v1::Input::ROLE_UNSPECIFIED;
  const job::NamedBlob* blob = nullptr;
};
std::vector<RequestBlob> BlobsOf(const job::Request& request);

v1::Job JobToWire(const job::Request& request);

// Fills a request from its frames.
Status AddInput(job::Request& request, const v1::Input& input, Blob bytes);
Status SetJob(job::Request& request, const v1::Job& job);

v1::Failed ErrorToWire(const Error& error);
// Texts are cut at 4 KiB; a code or reason that is none fails with kInvalidArgument.
Result<Error> ErrorFromWire(const v1::Failed& failed);

// Whether a worker may report this as its stage or pass.
bool IsStage(std::string_view stage);
bool IsPass(std::string_view pass);

// Appends the results to the output file and describes where they are.
Result<v1::Done> WriteOutcome(const job::Outcome& outcome, int output);
// Reads them back.  `output` holds the whole file, which is complete; the results are
// views into it.
Result<job::Outcome> ReadOutcome(const v1::Done& done, const Blob& output);

}  // namespace octavo::server::worker
