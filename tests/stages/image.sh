# SPDX-License-Identifier: Apache-2.0
# Builds the image and answers a job from it.
. tests/stages/common.sh
[ -f tests/image.sh ] || skip "there is no tests/image.sh"
sh tests/image.sh
