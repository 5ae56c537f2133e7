// SPDX-License-Identifier: Apache-2.0
// A target needs a source; the precompiled header is what this one is for.
