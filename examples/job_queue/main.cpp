// Jobs in a table, retried by a process that is killed in the middle and started again. Nothing waits but the table: what a job
// has to go on from is one line of text in its row. The service that is called keeps its own record of what reached it, and
// this program ends with an error if an attempt is missing there, or was made twice.
#include "../database.hpp"
#include <encore/durable/durable_call.hpp>
#include <encore/encore.hpp>
#include <encore/telemetry/format.hpp>

#include <fmt/core.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

using namespace std::chrono_literals;

namespace {

struct ServiceDown : std::runtime_error {
  using runtime_error::runtime_error;
};

const encore::RetryPolicy job_policy{
    encore::RetryOn<ServiceDown>{},
    encore::MaxRetries{2},
    encore::ConstantBackoff{2s},
    encore::NoJitter{},
};
using Job = encore::DurableCall<std::remove_const_t<decltype(job_policy)>>;

// Somebody else's mail service, which writes down what reaches it. Each mail is refused as often as it says.
void send_mail(Database& database, const std::string& start, const std::string& job,
               const encore::Attempt& attempt) {
  const auto refusals = std::stoi(database.run("select refusals from jobs where id = ?", job).at(0).at(0));
  const auto before = std::stoi(database.run("select count(*) from requests where job = ?", job).at(0).at(0));
  const auto* const answer = before < refusals ? "503" : "200";
  database.run("insert into requests values (?, ?, ?, ?, ?)", start, job, sqlite3_int64{attempt.ordinal},
               attempt.idempotency_key(), std::string{answer});
  if (before < refusals) throw ServiceDown{"503"};
}

sqlite3_int64 in_nanoseconds(encore::WallTime time) { return time.time_since_epoch().count(); }

void run_job(Database& database, const std::string& start, const std::string& id, const std::string& saved) {
  const auto store = [&](const Job& job) {
    database.run("update jobs set saved = ?, due = ? where id = ?", job.save(), in_nanoseconds(job.due()),
                 id);
  };
  const auto close = [&](encore::StopReason reason) {
    database.run("update jobs set state = ? where id = ?", std::string{to_string(reason)}, id);
  };
  std::optional<Job> job;
  encore::Decision next;
  if (saved.empty()) {
    job.emplace(job_policy, encore::Call{.id = id, .name = "mail"});
    next = job->begin();
  } else {
    job.emplace(job_policy, encore::SavedCall::read(saved));
    next = job->resume();
  }
  if (!next.goes_on()) return close(next.stop);
  store(*job);  // before the attempt: should this process die in it, the next one knows that it began
  try {
    send_mail(database, start, id, job->attempt());
    job->succeeded();
    return close(job->reason());
  } catch (const std::exception& error) {
    next = job->threw(&error);
  }
  if (!next.goes_on()) return close(next.stop);
  store(*job);
}

/// A process that works on the table until no job is open. Before it waits for the first time, it says so on stdout.
void work(const std::string& file, const std::string& start) {
  Database database{file};
  for (auto told = false;;) {
    const auto open =
        database.run("select id, saved, due from jobs where state = 'open' order by due, id limit 1");
    if (open.empty()) return;
    const auto& job = open.front();
    const auto wait = std::stoll(job.at(2)) - in_nanoseconds(encore::SteadyClock::wall());
    if (wait > 0) {
      if (!std::exchange(told, true) && write(STDOUT_FILENO, "w", 1) != 1) return;
      encore::SteadyClock::sleep_for(encore::Duration{wait}, {});
    }
    run_job(database, start, job.at(0), job.at(1));
  }
}

/// Starts this program as a worker. Kills it in its first wait, if that is wanted; else lets it finish.
void start_worker(const char* program, const std::string& file, const char* start, bool kill_in_wait) {
  int from_worker[2];
  if (pipe(from_worker) != 0) throw std::runtime_error{"no pipe"};
  const auto worker = fork();
  if (worker == 0) {
    dup2(from_worker[1], STDOUT_FILENO);
    close(from_worker[0]), close(from_worker[1]);
    execl(program, program, file.c_str(), start, nullptr);
    _exit(127);
  }
  close(from_worker[1]);
  char waits = 0;
  const auto told = read(from_worker[0], &waits, 1);
  if (kill_in_wait) kill(worker, SIGKILL);
  int status = 0;
  waitpid(worker, &status, 0);
  close(from_worker[0]);
  const auto as_wanted =
      kill_in_wait ? told == 1 && WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!as_wanted) throw std::runtime_error{"the worker did not end as it should"};
}

int show(const char* program, const std::string& file) {
  Database database{file};
  database.run(
      "create table jobs (id primary key, refusals, state default 'open', saved default '', due default 0)");
  database.run("create table requests (start, job, ordinal, key, answer)");
  database.run(
      "insert into jobs (id, refusals) values ('mail-1', 0), ('mail-2', 1), ('mail-3', 2), ('mail-4', 9)");

  start_worker(program, file, "first", true);
  start_worker(program, file, "second", false);

  fmt::print("{:<8}{:<8}{:<9}{}\n", "start", "job", "attempt", "answer");
  auto mistakes = 0;
  std::map<std::string, int> made;
  std::map<std::string, std::set<std::string>> keys;
  for (const auto& row :
       database.run("select start, job, ordinal, answer, key from requests order by rowid")) {
    fmt::print("{:<8}{:<8}{:<9}{}\n", row[0], row[1], row[2], row[3]);
    if (std::to_string(++made[row[1]]) != row[2]) ++mistakes;
    keys[row[1]].insert(row[4]);
  }
  fmt::print("\n{:<8}{:<10}{}\n", "job", "attempts", "ended because");
  for (const auto& row : database.run("select id, state, refusals from jobs order by id")) {
    fmt::print("{:<8}{:<10}{}\n", row[0], made[row[0]], row[1]);
    const auto refusals = std::stoi(row[2]);
    if (made[row[0]] != std::min(refusals, 2) + 1) ++mistakes;
    if (row[1] != (refusals <= 2 ? "succeeded" : "retries_exhausted")) ++mistakes;
    if (keys[row[0]].size() != 1) ++mistakes;  // all attempts of a job brought the same idempotency key
  }
  fmt::print("\nattempts lost or made twice: {}\n", mistakes);
  return mistakes == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count == 3) {
      work(arguments[1], arguments[2]);
      return EXIT_SUCCESS;
    }
    const auto folder = std::filesystem::temp_directory_path();
    const auto file = (folder / ("encore_jobs_" + std::to_string(getpid()) + ".sqlite")).string();
    const std::unique_ptr<const std::string, void (*)(const std::string*)> removed_at_the_end{
        &file, [](const std::string* name) { std::filesystem::remove(*name); }};
    return show(arguments[0], file);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
  }
}
