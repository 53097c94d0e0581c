// The little of SQLite that these examples need.
#pragma once
#include <sqlite3.h>

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

class Database {
 public:
  using Row = std::vector<std::string>;

  explicit Database(const std::string& file) {
    sqlite3* opened = nullptr;
    const auto status = sqlite3_open(file.c_str(), &opened);
    connection_.reset(opened);
    check(status);
    sqlite3_busy_timeout(opened, 10'000);  // milliseconds; another process may be writing
    run("pragma synchronous = off");       // enough against the end of a process, if not of the machine
  }

  /// Runs one statement, each `?` replaced by an argument, and gives all of its rows as text.
  template <class... Argument>
  std::vector<Row> run(const char* sql, const Argument&... arguments) {
    sqlite3_stmt* prepared = nullptr;
    check(sqlite3_prepare_v2(connection_.get(), sql, -1, &prepared, nullptr));
    const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement{prepared, sqlite3_finalize};
    int place = 0;
    (check(bind(prepared, ++place, arguments)), ...);
    std::vector<Row> rows;
    auto status = sqlite3_step(prepared);
    for (; status == SQLITE_ROW; status = sqlite3_step(prepared)) {
      auto& row = rows.emplace_back();
      for (int column = 0; column < sqlite3_column_count(prepared); ++column) {
        const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(prepared, column));
        row.emplace_back(text != nullptr ? text : "");
      }
    }
    if (status != SQLITE_DONE) check(status);
    return rows;
  }

 private:
  static int bind(sqlite3_stmt* statement, int place, const std::string& text) {
    return sqlite3_bind_text(statement, place, text.c_str(), -1, SQLITE_TRANSIENT);
  }
  static int bind(sqlite3_stmt* statement, int place, sqlite3_int64 number) {
    return sqlite3_bind_int64(statement, place, number);
  }
  void check(int status) const {
    if (status != SQLITE_OK) throw std::runtime_error{sqlite3_errmsg(connection_.get())};
  }

  std::unique_ptr<sqlite3, int (*)(sqlite3*)> connection_{nullptr, sqlite3_close};
};
