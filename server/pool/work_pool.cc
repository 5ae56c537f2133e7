// SPDX-License-Identifier: Apache-2.0
#include "server/pool/work_pool.h"

#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <utility>

namespace octavo::server {

namespace asio = boost::asio;

struct Serial::State {
  asio::strand<asio::thread_pool::executor_type> strand;
};

struct WorkPool::State {
  explicit State(int threads) : pool(static_cast<size_t>(threads)) {}
  asio::thread_pool pool;
};

void Serial::Post(Work work) const { asio::post(state_->strand, std::move(work)); }

WorkPool::WorkPool(int threads) : state_(std::make_unique<State>(threads)) {}

WorkPool::~WorkPool() { state_->pool.join(); }

void WorkPool::Post(Work work) { asio::post(state_->pool, std::move(work)); }

Serial WorkPool::MakeSerial() {
  return Serial(std::make_shared<Serial::State>(
      Serial::State{.strand = asio::make_strand(state_->pool.get_executor())}));
}

}  // namespace octavo::server
