// SPDX-License-Identifier: Apache-2.0
// What the test programs share besides.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cmake/pch/library.h"
