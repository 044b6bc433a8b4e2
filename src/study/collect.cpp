#include "study/collect.hpp"

#include <type_traits>
#include <utility>

namespace paceline::study {

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto cancel_patience = std::chrono::seconds(5);
constexpr auto wait_slice = std::chrono::hours(1);  // a signal ends a wait, no need to wake up

}  // namespace

void take(trace::Event&& event, Collected& collected) {
  trace::Request& request = collected.request;
  std::visit(
      [&](auto&& said) {
        using Said = std::decay_t<decltype(said)>;
        if constexpr (std::is_same_v<Said, trace::Prefill>) {
          request.prefill = said;
        } else if constexpr (std::is_same_v<Said, trace::Pass>) {
          request.passes.push_back(std::move(said));
        } else if constexpr (std::is_same_v<Said, trace::Emission>) {
          request.emissions.push_back(std::move(said));
        } else if constexpr (std::is_same_v<Said, trace::WidthTime>) {
          collected.widths.push_back(std::move(said));
        } else if constexpr (std::is_same_v<Said, trace::Fill>) {
          collected.fill = said;
        } else if constexpr (std::is_same_v<Said, trace::Rereading>) {
          collected.rereading = std::move(said);
        } else if constexpr (std::is_same_v<Said, model::FileFacts>) {
          collected.file = std::move(said);
        } else if constexpr (std::is_same_v<Said, trace::DraftMap>) {
          collected.maps.push_back(std::move(said));
        } else if constexpr (std::is_same_v<Said, trace::Devices>) {
          collected.devices = std::move(said);
        } else if constexpr (std::is_same_v<Said, trace::Observation>) {
          collected.observation = std::move(said);
        } else if constexpr (std::is_same_v<Said, trace::DeviceSpeeds>) {
          collected.device_speeds = std::move(said);
        } else if constexpr (std::is_same_v<Said, trace::Answered>) {
          request.chunks = std::move(said.chunks);
          request.answer = std::move(said.answer);
        } else if constexpr (std::is_same_v<Said, trace::Finished>) {
          request.outcome = std::move(said.outcome);
          request.stop = said.stop;
          request.eos_counted = said.eos_counted;
          request.text = std::move(said.text);
          request.disk_pages = said.disk_pages;
        }
      },
      std::move(event));
}

trace::Outcome cancelled() {
  return trace::ended(trace::OutcomeKind::cancelled, "stopped by the user");
}

Collected collect(engine::Engine& engine, const protocol::Job& job, std::chrono::seconds patience,
                  const std::function<bool()>& stop_asked,
                  const std::function<void(const trace::Progress&)>& heard) {
  Collected collected;
  const auto id = engine.submit(job, patience);
  if (!id) {
    collected.request.outcome.kind = trace::OutcomeKind::crashed;
    collected.request.outcome.reason = id.error().message;
    return collected;
  }
  bool cancelling = false;
  auto give_up_at = Clock::time_point::max();
  while (true) {
    if (stop_asked() && !cancelling) {
      engine.cancel(*id);
      cancelling = true;
      give_up_at = Clock::now() + cancel_patience;
    }
    auto event = engine.next(std::min(give_up_at, Clock::now() + wait_slice));
    if (event) {
      const auto* progress = std::get_if<trace::Progress>(&event->event);
      if (progress != nullptr && heard) heard(*progress);
      const bool last = std::holds_alternative<trace::Finished>(event->event);
      take(std::move(event->event), collected);
      if (last) return collected;
    } else if (cancelling && Clock::now() >= give_up_at) {
      collected.request.outcome = cancelled();
      return collected;
    }
  }
}

}  // namespace paceline::study
