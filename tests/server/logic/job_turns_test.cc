// SPDX-License-Identifier: Apache-2.0
#include "server/session/job_turns.h"

#include <gtest/gtest.h>

#include <vector>

namespace octavo::server {
namespace {

std::vector<std::string> TakeAll(JobTurns& turns) {
  std::vector<std::string> order;
  while (const auto next = turns.Next()) {
    order.push_back(*next);
    turns.TakeNext();
  }
  return order;
}

TEST(JobTurns, clients_take_turns_in_order_of_arrival) {
  JobTurns turns;
  for (const char* id : {"a1", "a2", "a3"}) turns.Add("a", id, 0);
  for (const char* id : {"b1", "b2"}) turns.Add("b", id, 0);
  turns.Add("c", "c1", 0);
  EXPECT_EQ(TakeAll(turns), (std::vector<std::string>{"a1", "b1", "c1", "a2", "b2", "a3"}));
  EXPECT_TRUE(turns.empty());
  EXPECT_EQ(turns.Next(), std::nullopt);
}

TEST(JobTurns, priority_orders_the_jobs_of_one_client_only) {
  JobTurns turns;
  turns.Add("a", "a low", -1);
  turns.Add("a", "a first", 5);
  turns.Add("a", "a second", 5);
  turns.Add("b", "b", 0);
  EXPECT_EQ(TakeAll(turns), (std::vector<std::string>{"a first", "b", "a second", "a low"}));
}

TEST(JobTurns, a_client_that_comes_late_waits_for_one_job) {
  JobTurns turns;
  for (int i = 0; i < 100; ++i) turns.Add("a", "a" + std::to_string(i), 0);
  for (int i = 0; i < 50; ++i) turns.TakeNext();
  turns.Add("b", "b1", 0);
  turns.Add("b", "b2", 0);
  std::vector<std::string> order = TakeAll(turns);
  order.resize(4);
  EXPECT_EQ(order, (std::vector<std::string>{"b1", "a50", "b2", "a51"}));
}

TEST(JobTurns, newcomers_do_not_starve_who_waits) {
  JobTurns turns;
  for (int i = 0; i < 10; ++i) turns.Add("a", "a" + std::to_string(i), 0);
  // One client more comes for each job that is taken, so the share of `a` falls, but not to zero.
  int own = 0;
  for (int i = 0; own < 10; ++i) {
    ASSERT_LT(i, 200);
    turns.Add("new" + std::to_string(i), "n" + std::to_string(i), 0);
    own += turns.Next()->starts_with("a") ? 1 : 0;
    turns.TakeNext();
  }
}

TEST(JobTurns, a_client_that_comes_back_is_not_ahead_of_its_turn) {
  JobTurns turns;
  turns.Add("b", "b1", 0);
  turns.Add("b", "b2", 0);
  turns.Add("a", "a1", 0);
  turns.TakeNext();  // b1
  turns.TakeNext();  // a1: a has no more, and has had its turn
  turns.Add("a", "a2", 0);
  EXPECT_EQ(TakeAll(turns), (std::vector<std::string>{"b2", "a2"}));
}

TEST(JobTurns, removed_jobs_are_not_taken) {
  JobTurns turns;
  turns.Add("a", "a1", 0);
  turns.Add("a", "a2", 0);
  EXPECT_TRUE(turns.Waits("a1"));
  EXPECT_TRUE(turns.Remove("a1"));
  EXPECT_FALSE(turns.Remove("a1"));
  EXPECT_FALSE(turns.Waits("a1"));
  EXPECT_EQ(TakeAll(turns), std::vector<std::string>{"a2"});
}

TEST(JobTurns, positions_count_the_turns_before_a_job) {
  JobTurns turns;
  for (const char* id : {"a0", "a1", "a2"}) turns.Add("a", id, 0);
  turns.Add("b", "b0", 0);
  const auto positions = turns.Positions();
  EXPECT_EQ(positions.at("a0"), 0u);
  EXPECT_EQ(positions.at("b0"), 0u);  // one of the two is first
  EXPECT_EQ(positions.at("a1"), 2u);
  EXPECT_EQ(positions.at("a2"), 3u);
}

}  // namespace
}  // namespace octavo::server
