# Functions that run-cpu, run-gpu and run-iteration share. These functions build and start programs,
# which the shell does best; the programs and the table are in the languages of the libraries.
#
# This file sets `here`, `out` (the first argument, a folder, default target/peers) and `names` (the
# matrices that are named after it). The scripts read these variables:
#
# PYTHON         the Python to use
# BLOCKMUL, LAB  the binaries of the command and of the laboratory
# BLOCKMUL_ARGS  more arguments for `blockmul bench`
# ROUNDS, PATIENCE  the options of every program
# PEERS          a list such as "mkl blockmul": only these libraries are measured, and the table has
#                the other columns of the last run; blockmul_apply is blockmul's A·x alone
# DENSE          a list such as "random:4000:0.98", or an empty one: products with dense matrices are
#                measured on the files and on the matrices of the list; with "--columns all" in the
#                list D has as many columns as A, as in the measurements of shi
# APPLY          a list such as "cnr-2000.mtx.gz", or an empty one: A·x is measured on the files and
#                on the Matrix Market files of the list
# APPLY_FORMATS  formats such as "csr,coo", by which blockmul's A·x is measured besides auto
# PAPERS         a list such as "polok parger": the measurements of these papers are repeated on the
#                same files, and written to FOLDER/polok and FOLDER/parger
# PAPER_ARGS     more arguments for the papers, such as "--max-products 1e12"
# MODELS         if it is empty, the matrices that papers generate are left out
#
# The peers also time the matrices that papers generate. The matrices of polok and parger are
# written into FOLDER/models, with at most 1e5 products unless PAPER_ARGS is given. With APPLY,
# those of evtushenko and garland are written into FOLDER/models/apply, with at most 1e6 entries.
# With "--columns all" in DENSE, those of shi are written into FOLDER/models/shi.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
out=${1:-$root/target/peers}
names=("${@:2}")
models=()
applied_models=()
dense_models=()
options=(--rounds "${ROUNDS:-11}" --patience "${PATIENCE:-2}")
python=${PYTHON:-python3}
# Records have a folder of their own. A run begins without the records of the last run.
records=$out/records
mkdir -p "$records"
[ -n "${PEERS:-}" ] || rm -f "$records"/*.json

say() { printf '== %s\n' "$*" >&2; }
left_out() { printf '== left out: %s: %s\n' "$1" "$2" >&2; }
has() { command -v "$1" >/dev/null 2>&1; }
wanted() { [ -z "${PEERS:-}" ] || [[ " $PEERS " == *" $1 "* ]]; }
imports() { "$python" -c "import $1" 2>/dev/null; }

# Sets `files` to the matrices that are named, or else to those of set $1.
make_inputs() {
    [ ${#names[@]} -gt 0 ] || names=("$1")
    mapfile -t names < <("$python" "$here/inputs.py" "$out/matrices" --list "${names[@]}")
    files=()
    for name in "${names[@]}"; do
        "$python" "$here/inputs.py" "$out/matrices" "$name" || left_out "$name" "not made" &
        files+=("$out/matrices/$name.bsr")
    done
    wait
}

# Installs MKL, and SciPy if Python does not have it, from PyPI into a virtual environment. The
# Python of this environment is used from then on, unless PYTHON names one.
with_mkl() {
    venv=${VENV:-$out/venv}
    if ! compgen -G "$venv/lib/libmkl_rt.so*" >/dev/null || ! "$venv/bin/python" -c 'import scipy.sparse' 2>/dev/null; then
        "$python" -m venv "$venv" && "$venv/bin/pip" install --quiet numpy scipy mkl mkl-devel || left_out MKL "PyPI gives none of it"
    fi
    [ -z "${PYTHON:-}" ] && [ -x "$venv/bin/python" ] && python=$venv/bin/python
    mkl_rt=$(find "$venv/lib" -maxdepth 1 -name 'libmkl_rt.so*' 2>/dev/null | head -n 1)
}

# Builds program $1 with the command after it, and keeps the compiler's output beside the program.
build() {
    local name=$1
    wanted "$name" || return 1
    shift
    has "$1" || { left_out "$name" "no $1"; return 1; }
    "$@" >"$out/$name.log" 2>&1 || { left_out "$name" "does not build, see $out/$name.log"; return 1; }
}

build_mkl() {
    [ -n "$mkl_rt" ] || { left_out mkl "not in $venv"; return 1; }
    build mkl "${CC:-cc}" -O3 -I "$venv/include" "$here/mkl.c" -o "$out/mkl" "$mkl_rt" "-Wl,-rpath,$venv/lib" -lm
}

build_dense_mkl() {
    [ -n "$mkl_rt" ] || { left_out dense_mkl "MKL is not in $venv"; return 1; }
    build dense_mkl "${CC:-cc}" -O3 -I "$venv/include" "$here/dense_mkl.c" -o "$out/dense_mkl" "$mkl_rt" "-Wl,-rpath,$venv/lib" -lm
}

build_apply_mkl() {
    [ -n "$mkl_rt" ] || { left_out apply_mkl "MKL is not in $venv"; return 1; }
    build apply_mkl "${CC:-cc}" -O3 -I "$venv/include" "$here/apply_mkl.c" -o "$out/apply_mkl" "$mkl_rt" "-Wl,-rpath,$venv/lib" -lm
}

build_eigen() {
    build eigen "${CXX:-c++}" -O3 -march=native -I "${EIGEN:-/usr/include/eigen3}" "$here/eigen.cpp" -o "$out/eigen"
}

# Runs program $1 on the files, by the command after it.
measure() {
    local name=$1
    shift
    say "$name"
    "$@" "${files[@]}" "${options[@]}" --json "$records/$name.json" || left_out "$name" "ended with status $?"
}

# Runs program $1 on the files and on the models for products of sparse matrices.
measure_products() {
    measure "$@" "${models[@]}"
}

# Sets `paper_args` to the arguments of paper $1.
set_paper_args() {
    # shellcheck disable=SC2206 # a list of arguments
    paper_args=(${PAPER_ARGS:-})
    with_models_of "$1" || return 0
    if [ -z "${PAPER_ARGS:-}" ]; then
        case $1 in
            polok | parger) paper_args=(--max-products 1e5) ;;
            evtushenko | garland) paper_args=(--max-products 1e6) ;;
        esac
    fi
    if [ "${2:-}" = --models ]; then paper_args+=(--models); fi
}

# Whether the peers time the matrices that paper $1 generates. Matrices for products with vectors
# are timed only if APPLY is set.
with_models_of() {
    [ -n "${MODELS-1}" ] || return 1
    case $1 in
        polok | parger) ;;
        evtushenko | garland) [ -n "${APPLY+given}" ] ;;
        shi) with_dense_models ;;
        *) return 1 ;;
    esac
}

# Whether the peers time the matrices that shi generates. The records of the peers match those of
# shi only if D has as many columns as A.
with_dense_models() { [ -n "${MODELS-1}" ] && [[ " ${DENSE:-} " == *" --columns all "* ]]; }

# Sets `models`, `applied_models` and `dense_models` to the files of the matrices that the papers of
# PAPERS generate for device $1.
make_models() {
    [ -n "${MODELS-1}" ] || return 0
    rm -f "$out/models"/*.bsr "$out/models/apply"/*.bsr "$out/models/shi"/*.bsr
    local paper folder
    for paper in ${PAPERS:-}; do
        with_models_of "$paper" || continue
        case $paper in
            polok | parger) folder=$out/models ;;
            evtushenko | garland) folder=$out/models/apply ;;
            *) folder=$out/models/$paper ;;
        esac
        find_lab || return 0
        set_paper_args "$paper"
        "$lab" paper "$paper" --write-models --device "$1" "${paper_args[@]}" -o "$folder" --quiet ||
            left_out "the models of $paper" "ended with status $?"
    done
    if compgen -G "$out/models/*.bsr" >/dev/null; then models=("$out/models"/*.bsr); fi
    if compgen -G "$out/models/apply/*.bsr" >/dev/null; then applied_models=("$out/models/apply"/*.bsr); fi
    if compgen -G "$out/models/shi/*.bsr" >/dev/null; then dense_models=("$out/models/shi"/*.bsr); fi
}

# Sets `blockmul` to the binary of the command.
find_blockmul() {
    blockmul=${BLOCKMUL:-}
    [ -n "$blockmul" ] && return
    has cargo || { left_out blockmul "neither BLOCKMUL nor cargo"; return 1; }
    (cd "$root" && cargo build --release --quiet) || { left_out blockmul "does not build"; return 1; }
    blockmul=$root/target/release/blockmul
}

# Sets `lab` to the program of the laboratory.
find_lab() {
    lab=${LAB:-}
    [ -n "$lab" ] && return
    has cargo || { left_out lab "neither LAB nor cargo"; return 1; }
    (cd "$root" && cargo build --release --quiet --package blockmul-lab) || { left_out lab "does not build"; return 1; }
    lab=$root/target/release/lab
}

# Measures blockmul's products on device $1.
measure_blockmul() {
    wanted blockmul || return 0
    find_blockmul || return 0
    say blockmul
    # shellcheck disable=SC2086 # a list of arguments
    "$blockmul" bench "${files[@]}" "${models[@]}" --by-rows --device "$1" --rounds "${ROUNDS:-11}" --json "$records/blockmul.json" \
        ${BLOCKMUL_ARGS:-} ||
        left_out blockmul "ended with status $?"
}

# Measures blockmul's products with dense matrices on device $1.
measure_blockmul_dense() {
    wanted blockmul || return 0
    find_blockmul || return 0
    local columns
    for columns in 32 128; do
        say "blockmul, $columns dense columns"
        # shellcheck disable=SC2086 # a list of arguments
        "$blockmul" bench "${files[@]}" --operation dense --columns "$columns" --layout rows,columns --element f64,f32 --device "$1" \
            --rounds "${ROUNDS:-11}" --json "$records/blockmul_dense_$columns.json" ${BLOCKMUL_ARGS:-} ||
            left_out blockmul "ended with status $?"
    done
}

# Copies the Matrix Market files of APPLY to the other files.
add_applied() {
    [ -n "${APPLY:-}" ] || return 0
    find_blockmul || return 0
    local file name
    for file in $APPLY; do
        name=$(basename "$file")
        name=$out/matrices/${name%%.*}.bsr
        [ -e "$name" ] || "$blockmul" convert "$file" -o "$name" --quiet || { left_out "$file" "not converted"; continue; }
        files+=("$name")
    done
}

# Measures blockmul's A·x on device $1, with $2 products enqueued together, by the format that auto
# chooses in the promised order and by the one that it chooses in any order.
measure_blockmul_apply() {
    wanted blockmul || wanted blockmul_apply || return 0
    find_blockmul || return 0
    local applied=(--operation apply --element f64,f32 --device "$1" --together "$2" --rounds "${ROUNDS:-11}" --max-time "${PATIENCE:-2}")
    say "blockmul, A·x"
    "$blockmul" bench "${files[@]}" "${applied[@]}" --format "auto${APPLY_FORMATS:+,$APPLY_FORMATS}" --json "$records/blockmul_apply.json" ||
        left_out blockmul "ended with status $?"
    say "blockmul, A·x in any order"
    "$blockmul" bench "${files[@]}" "${applied[@]}" --format auto --any-order --json "$records/blockmul_apply_any_order.json" ||
        left_out blockmul "ended with status $?"
}

# Repeats the papers of PAPERS on device $1, beside the peers that have been measured.
measure_papers() {
    [ -n "${PAPERS:-}" ] || return 0
    find_lab || return 0
    local paper
    for paper in $PAPERS; do
        say "the measurements of $paper"
        set_paper_args "$paper" --models
        "$lab" paper "$paper" "${files[@]}" --by-rows --device "$1" --rounds "${ROUNDS:-11}" "${paper_args[@]}" \
            --peers "$records"/*.json -o "$out/$paper" ||
            left_out "$paper" "ended with status $?"
    done
}

print_table() {
    "$python" "$here/table.py" "$records"/*.json | tee "$out/table.md"
}
