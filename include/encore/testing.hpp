// For tests: fake time, scripted functions, recorders and contracts. For Catch2 matchers, include testing/matchers.hpp.
#pragma once
#include <encore/testing/contract_check.hpp>
#include <encore/testing/durations.hpp>
#include <encore/testing/fake_clock.hpp>
#include <encore/testing/fault_injector.hpp>
#include <encore/testing/manual_executor.hpp>
#include <encore/testing/recorder.hpp>
#include <encore/testing/recording.hpp>
#include <encore/testing/retry_contract.hpp>
#include <encore/testing/scripted.hpp>
#include <encore/testing/step.hpp>
#include <encore/testing/task.hpp>
