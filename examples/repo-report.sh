#!/bin/sh
# Writes the page of repo-report.md from the answers of its nodes.
# Usage: sh repo-report.sh -- OUTPUT DAYS GLANCE PEOPLE CHURN MARKERS WEIGHT BRANCHES
set -eu
[ "${1-}" = -- ] && shift
output=$1 days=$2 glance=$3 people=$4 churn=$5 markers=$6 weight=$7 branches=$8

# A list of "<number> <name>" lines as a table; a line when there is none.
table() {
    if [ ! -s "$1" ]; then printf '%s\n' "$4"; return; fi
    printf '| %s | %s |\n|---:|---|\n' "$2" "$3"
    sed -E 's/\|/\\|/g; s/^[[:space:]]*([^[:space:]]+)[[:space:]]+(.*)$/| \1 | \2 |/' "$1"
}

# Lines as a list, each as code; a line when there is none.
list() {
    if [ ! -s "$1" ]; then printf '%s\n' "$2"; return; fi
    sed -E 's/`/'"'"'/g; s/^(.*)$/- `\1`/' "$1"
}

page=$(mktemp "./.repo-report.XXXXXX")
trap 'rm -f "$page"' EXIT
{
    printf '# Repository report\n\n'
    cat "$glance"
    printf '\n## Who worked on it in the last %s days\n\n' "$days"
    table "$people" commits author 'Nobody committed in this time.'
    printf '\n## What changed most in the last %s days\n\n' "$days"
    table "$churn" changes file 'Nothing changed in this time.'
    printf '\n## What was left for later\n\n'
    list "$markers" 'No TODO, FIXME or XXX is left.'
    printf '\n## The largest files\n\n'
    table "$weight" bytes file 'The repository has no files.'
    printf '\n## Branches that are not merged, the oldest first\n\n'
    list "$branches" 'Every branch is merged.'
} > "$page"
chmod 644 "$page"
mv "$page" "$output"
trap - EXIT
printf 'Wrote %s (%s lines).\n' "$output" "$(wc -l < "$output" | tr -d ' ')"
