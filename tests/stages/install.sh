# SPDX-License-Identifier: Apache-2.0
# The packages that building, running and testing need; quick when they are there.
sh deploy/install_packages.sh build run test
