# The optimized build and every test of it.
. tests/stages/common.sh
build release
# buf, which lints the wire contract, is an npm package; npm notes in this file what it installed.
contract=tests/server/contract
if [ ! $contract/node_modules/.package-lock.json -nt $contract/package-lock.json ]; then
  (cd $contract && npm ci --ignore-scripts --no-audit --no-fund)
fi
run_tests release release
