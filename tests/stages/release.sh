# The optimized build and every test of it.
. tests/stages/common.sh
build release
run_tests release release
