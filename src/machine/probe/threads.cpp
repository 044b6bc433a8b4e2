#include "machine/probe/threads.hpp"

#include <fmt/format.h>

#include <atomic>
#include <barrier>
#include <system_error>
#include <thread>

#include "machine/probe/topology.hpp"

namespace paceline::machine {

util::Result<void> in_turns(int threads, const std::vector<int>& cpus,
                            const std::function<bool()>& again,
                            const std::function<void(int)>& turn) {
  std::atomic<bool> started_all = true;
  std::atomic<bool> bound_all = true;
  std::atomic<int> ready = 0;
  bool going = true;
  const auto decide = [&]() noexcept {
    ready = 0;
    going = started_all && bound_all && again();
  };
  std::barrier gate(threads, decide);
  const auto work = [&](int thread) {
    if (!cpus.empty() && !run_on(cpus)) bound_all = false;
    while (true) {
      gate.arrive_and_wait();
      if (!going) return;
      // The barrier wakes sleepers one after the other; from here all of them are awake.
      for (++ready; ready < threads;) std::this_thread::yield();
      turn(thread);
    }
  };
  std::string problem;
  {
    std::vector<std::jthread> crew;
    try {
      while (crew.size() < static_cast<std::size_t>(threads))
        crew.emplace_back(work, static_cast<int>(crew.size()));
    } catch (const std::system_error& error) {
      problem = error.what();
      started_all = false;
      for (auto i = crew.size(); i < static_cast<std::size_t>(threads); ++i) gate.arrive_and_drop();
    }
  }
  if (!started_all)
    return util::fail(util::ErrorKind::internal,
                      fmt::format("{} threads could not be started: {}", threads, problem));
  if (!bound_all)
    return util::fail(util::ErrorKind::internal, "threads could not be bound to a memory node");
  return {};
}

}  // namespace paceline::machine
