#!/bin/sh
# The tests of greet.sh; exits 1 when one fails.
fail() { printf 'not ok: %s\n' "$1"; exit 1; }
[ "$(sh greet.sh)" = 'Hello, world!' ] || fail 'greets the world'
[ "$(sh greet.sh Ada)" = 'Hello, Ada!' ] || fail 'greets a name'
printf 'ok: 2 tests\n'
