# shellcheck shell=bash
# tools/test, tools/faults, tools/oclgrind and .ci/run source this file from the root. The file sets
# the features with which all of them build, and measures the seconds of their steps.

# Sets `features`, one set for all, so that nothing is compiled twice: every package, and every
# feature whose libraries can be linked.
choose_features() {
    if tools/setup headers; then
        features=(--workspace --all-features)
    elif [ -n "${CI:-}" ]; then
        echo "$program: without libOpenCL and libGL to link with, the features ocl and gl go untested" >&2
        exit 1
    else
        echo "$program: left out: the features ocl and gl" >&2
        # shellcheck disable=SC2034 # for the program that sources this
        features=(--workspace --features "blockmul/faer blockmul/nalgebra-sparse blockmul/sprs")
    fi
}

# Budgets in seconds on two cores, with nothing installed, compiled or cached before. A step or a
# program above its budget is marked, and does not fail: one machine takes twice as long as another
# for the same work. The jobs of a pool have no budgets.
budgets='
tools/test: total             1200
  setup                        180
  build                        500
  tests                        900
tools/test full: total        1500
tools/test quick: total        120
  quick build                   30
  quick tests                  120
.ci/run: total                1500
  formatting                    10
  licences                      20
  fuzz versions                 10
  examples                      60
  lints and uses               400
'

# Prints the budget of a step or program.
budget() {
    local line
    line=$(grep -E "^ *$1 +[0-9]+\$" <<<"$budgets") || { echo "$program: no budget for $1" >&2; return 1; }
    echo "${line##* }"
}

# begin PROGRAM MESSAGE: starts the clock. At the end the table of steps is printed and the folder
# `work` removed, also after a failure; MESSAGE is printed if all went well.
begin() {
    program=$1 message=$2 running='' since=0
    work=$(mktemp -d)
    steps=$work/steps
    : >"$steps"
    SECONDS=0
    trap report EXIT
}

# step NAME COMMAND...: runs a command and records its seconds, and those of processors.
step() {
    running=$1 since=$SECONDS
    shift
    echo "== $running"
    timed "$work/spent" "$@"
    printf '%s\t%d\t%d\n' "$running" $((SECONDS - since)) $(($(<"$work/spent"))) >>"$steps"
    running=
}

# timed FILE COMMAND...: runs a command and writes the processor seconds of it and its children, as a
# sum, to a file.
timed() {
    local file=$1 TIMEFORMAT='%0U + %0S'
    shift
    { time "$@" 2>&3; } 3>&2 2>"$file"
}

# pool JOB...: runs these functions in this order, as many at a time as there are cores, at least
# two. A job's output is shown when the job has ended. When all have ended, the pool fails if one
# of them did. `pool` needs the folder `work` and the file `steps`.
pool() {
    local cores workers=() failed=0 worker
    cores=$(getconf _NPROCESSORS_ONLN)
    for ((worker = 0; worker < cores || worker < 2; worker++)); do
        # Background processes ignore Ctrl-C unless the trap is reset.
        (trap - INT; take_jobs "$@") &
        workers+=($!)
    done
    for worker in "${workers[@]}"; do
        wait "$worker" || failed=1
    done
    return "$failed"
}

job() { (set -e && "$1"); }

# Runs the jobs that no other worker has taken, one by one.
take_jobs() {
    local job name began status failed=0
    for job; do
        mkdir "$work/taken_$job" 2>/dev/null || continue
        name=${job//_/ } began=$SECONDS
        # In an || list a failure of the job's own commands would be ignored.
        set +e
        timed "$work/taken_$job/spent" job "$job" >"$work/taken_$job/output" 2>&1
        status=$?
        set -e
        [ "$status" = 0 ] || failed=1 name+=', failed'
        # The output of only one job is shown at a time.
        until mkdir "$work/showing" 2>/dev/null; do sleep 0.1; done
        printf '  %s\t%d\t%d\n' "$name" $((SECONDS - began)) $(($(<"$work/taken_$job/spent"))) >>"$steps"
        echo "== $name"
        cat "$work/taken_$job/output"
        rmdir "$work/showing"
    done
    return "$failed"
}

# row NAME SECONDS PROCESSOR: a row of the table, with the budget of that name.
row() {
    local of mark=
    of=$(budget "${1%, failed}")
    [ "$2" -le "$of" ] || mark=' over'
    printf '%-36s %7d %9s %7d%s\n' "$1" "$2" "$3" "$of" "$mark"
}

report() {
    local status=$? total=$SECONDS name seconds spent
    # If a signal ends a step, the table is still printed.
    if [ -n "$running" ]; then
        printf '%s, failed\t%d\t\n' "$running" $((total - since)) >>"$steps"
        [ "$status" != 0 ] || status=1
    fi
    printf '\n%-36s %7s %9s %7s\n' step seconds processor budget
    while IFS=$'\t' read -r name seconds spent; do
        case $name in '  '*) printf '%-36s %7d %9s\n' "$name" "$seconds" "$spent" && continue ;; esac
        row "$name" "$seconds" "$spent"
    done <"$steps"
    row "$program: total" "$total" ''
    # The script that called this one adds these steps to its own table.
    [ -z "${STEPS_INTO:-}" ] || cat "$steps" >>"$STEPS_INTO"
    rm -rf "$work"
    [ "$status" != 0 ] || echo "$message"
    exit "$status"
}
