/**
 * A shell that starts one program and ends it when the pipe on its standard input closes, which the kernel does for us
 * however the parent went, SIGKILL included. It works for programs that know nothing of us (temporal, postgres), for
 * Node processes too busy to notice, and for frozen ones.
 *
 * Why a shell: 1 MB and 2 ms where a Node process costs 45 MB and 50 ms; nothing to find on disk, so it runs from
 * sources and from the build alike; and it exists wherever these servers run. prctl(PR_SET_PDEATHSIG) would need a
 * native helper, is Linux only, and is lost when the program changes its user.
 *
 * Arguments: the stop signal, the grace in tenths of a second, the program and its arguments. File descriptor 0 is the
 * parent's pipe (the program inherits it, so one that ends by itself when fd 0 closes is welcome to), 3 takes the
 * program's pid. The exit code is the program's.
 */
export const WATCHDOG_SCRIPT = `
signal=$1; grace=$2; shift 2
exec 4<&0
"$@" 0<&4 3>&- 4<&- &
child=$!
echo "$child" >&3
exec 3>&-
thaw() {
  # Frozen children of the program (PostgreSQL's backends) would never see that it has ended.
  for stat in /proc/[0-9]*/stat; do
    read -r pid name state parent rest 2>/dev/null <"$stat" && [ "$parent" = "$child" ] && kill -s CONT "$pid"
  done
  kill -s CONT "$child"
}
(
  while read -r line; do :; done <&4
  kill -s "$signal" "$child"
  thaw
  while [ "$grace" -gt 0 ] && kill -0 "$child"; do sleep 0.1; grace=$((grace - 1)); done
  kill -s KILL "$child"
) 2>/dev/null &
reader=$!
exec 4<&-
wait "$child"
status=$?
kill "$reader" 2>/dev/null
exit "$status"
`;
