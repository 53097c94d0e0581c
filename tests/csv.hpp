// For tests that are driven by the rows of a table in tests/data.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace encore_tests {

/// The fields of one line: comma-separated, without quoting.
inline std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields{""};
  for (const char character : line) {
    if (character == ',')
      fields.emplace_back();
    else if (character != '\r')
      fields.back() += character;
  }
  return fields;
}

/// A row whose fields are asked for by their column's name. `where()` says which it is, for `INFO`.
class Row {
 public:
  Row(std::string where, const std::vector<std::string>& columns, std::vector<std::string> fields)
      : where_{std::move(where)},
        columns_{columns},
        fields_{std::move(fields)} {
    if (fields_.size() != columns_.size())
      throw std::runtime_error{where_ + ": has " + std::to_string(fields_.size()) + " fields, not " +
                               std::to_string(columns_.size())};
  }

  const std::string& where() const { return where_; }
  const std::string& text(std::string_view column) const {
    for (std::size_t i = 0; i < columns_.size(); ++i)
      if (columns_[i] == column) return fields_[i];
    throw std::runtime_error{where_ + ": there is no column " + std::string{column}};
  }
  double number(std::string_view column) const {
    const std::string& field = text(column);
    char* end = nullptr;
    const double value = std::strtod(field.c_str(), &end);
    if (field.empty() || *end != '\0')
      throw std::runtime_error{where_ + ": " + std::string{column} + " is no number"};
    return value;
  }
  int whole(std::string_view column) const {
    const double value = number(column);
    if (value != static_cast<int>(value))
      throw std::runtime_error{where_ + ": " + std::string{column} + " is no whole number"};
    return static_cast<int>(value);
  }

 private:
  std::string where_;
  std::vector<std::string> columns_;
  std::vector<std::string> fields_;
};

/// All rows of tests/data/`file`: lines that begin with '#' are comments, the first other line names the columns.
/// Throws, naming file and line, if there is no row or a row has too few or too many fields.
inline std::vector<Row> rows_of(const std::string& file) {
  std::ifstream stream{std::string{ENCORE_TEST_DATA} + '/' + file};
  std::vector<std::string> columns;
  std::vector<Row> rows;
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    if (line.empty() || line.front() == '#') continue;
    if (columns.empty())
      columns = fields_of(line);
    else
      rows.emplace_back(file + ':' + std::to_string(number) + ": " + line, columns, fields_of(line));
  }
  if (rows.empty()) throw std::runtime_error{file + ": cannot be read, or has no rows"};
  return rows;
}

}  // namespace encore_tests
