# clang-tidy on what a change touches.
sh tests/lint/tidy_changed.sh
