// The carrier's books, in SQLite: what was asked of it, and what it ships.
#pragma once
#include "../database.hpp"

#include <string>
#include <vector>

/// A shipment, as the carrier answers with it.
struct Shipment {
  std::string number;       ///< S-1, S-2 …
  bool recognised = false;  ///< the key was known: this is the shipment that an earlier request has made
};

/// For one thread at a time.
class Ledger {
 public:
  explicit Ledger(const std::string& file) : database_{file} {
    database_.run("create table shipments (number integer primary key, order_id, key unique)");
    database_.run("create table requests (number integer primary key, order_id, key, fate)");
  }

  /// Enters a shipment of the order and commits it, unless the key is known. Without a key every request is a new order.
  Shipment ship(const std::string& order, const std::string& key) {
    const auto made = database_.run(
        "insert into shipments (order_id, key) values (?, nullif(?, '')) on conflict (key) do nothing "
        "returning 'S-' || number",
        order, key);
    if (!made.empty()) return {.number = made.at(0).at(0)};
    const auto known = database_.run("select 'S-' || number from shipments where key = ?", key);
    return {.number = known.at(0).at(0), .recognised = true};
  }

  std::vector<std::string> shipments_of(const std::string& order) {
    std::vector<std::string> numbers;
    for (const auto& row :
         database_.run("select 'S-' || number from shipments where order_id = ? order by number", order))
      numbers.push_back(row.at(0));
    return numbers;
  }

  int requests_of(const std::string& order) {
    return std::stoi(database_.run("select count(*) from requests where order_id = ?", order).at(0).at(0));
  }
  void write_down_request(const std::string& order, const std::string& key, const std::string& fate) {
    database_.run("insert into requests (order_id, key, fate) values (?, ?, ?)", order, key, fate);
  }

 private:
  Database database_;
};
