#include "backend.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <stdexcept>

using namespace std::chrono_literals;

namespace {

constexpr auto silence = 1s;         // longer than any caller here waits
constexpr std::size_t workers = 16;  // more than can be silent at the same time

int ordinal_in(const std::string& header) {
  int ordinal = 0;
  std::from_chars(header.data(), header.data() + header.size(), ordinal);
  return ordinal;
}

}  // namespace

Backend::Backend(const Script& script) : script_{script} {
  server_.new_task_queue = [] { return new httplib::ThreadPool(workers); };
  server_.Get("/inventory/([^/]+)", [this](const httplib::Request& request, httplib::Response& response) {
    answer(request, response);
  });
  port_ = server_.bind_to_any_port("127.0.0.1");
  if (port_ <= 0) throw std::runtime_error{"the backend cannot listen on 127.0.0.1"};
  thread_ = std::thread{[this] { server_.listen_after_bind(); }};
  while (!server_.is_running()) std::this_thread::sleep_for(1ms);
}

Backend::~Backend() {
  {
    const std::lock_guard lock{mutex_};
    closed_ = true;
  }
  closing_.notify_all();
  server_.stop();
  thread_.join();
}

std::vector<Request> Backend::log() const {
  const std::lock_guard lock{mutex_};
  return log_;
}

void Backend::answer(const httplib::Request& http_request, httplib::Response& response) {
  const auto request = write_down(http_request);
  response.set_header("X-Request-Id", request.id);
  const auto& answer = request.answer;
  switch (answer.kind) {
    case Answer::Kind::units: response.set_content(std::to_string(answer.number), "text/plain"); return;
    case Answer::Kind::status:
      response.status = answer.number;
      if (!answer.header.empty()) response.set_header(answer.header, answer.wait);
      return;
    case Answer::Kind::timeout: stay_silent(); return;
    case Answer::Kind::drop:
      // Promises more than it sends; the server then closes the connection.
      response.set_content_provider(100, "text/plain", [](std::size_t, std::size_t, httplib::DataSink& body) {
        body.write("4", 1);
        return false;
      });
      return;
  }
}

Request Backend::write_down(const httplib::Request& request) {
  const std::lock_guard lock{mutex_};
  Request line{.id = "req-" + std::to_string(log_.size() + 1),
               .call_id = request.get_header_value("X-Call-Id"),
               .ordinal = ordinal_in(request.get_header_value("X-Attempt")),
               .idempotency_key = request.get_header_value("Idempotency-Key"),
               .sku = request.matches[1],
               .answer = {.kind = Answer::Kind::status, .number = 404}};
  if (const auto found = script_.answers.find(line.sku); found != script_.answers.end()) {
    const auto& answers = found->second;
    line.answer = answers[std::min(requests_by_sku_[line.sku]++, answers.size() - 1)];
  }
  log_.push_back(line);
  return line;
}

void Backend::stay_silent() {
  std::unique_lock lock{mutex_};
  closing_.wait_for(lock, silence, [this] { return closed_; });
}
