installed=/etc/cloud/cloud.cfg.d/99-captf-bootstrap.cfg
# Whose it is: not in the file, whose bytes stay as they came, but on the same file system, so that
# a crash cannot reorder the two.
record=/etc/cloud/captf-bootstrap.instance-id
tries=60

PATH=${PATH:-/usr/sbin:/usr/bin:/sbin:/bin}:/usr/local/bin:/snap/bin
export PATH
failed=0
scratch= # the temporary file in use, of a fixed name: a later boot finds what a power cut left
child=   # the command in progress

say() { printf 'captf-bootstrap: %s\n' "$1" >&2 || :; }
die() { say "error: $1"; exit 1; }

cleanup() {
    if [ -n "$child" ]; then
        kill "$child" 2>/dev/null || :
        wait "$child" 2>/dev/null || :
    fi
    # The AWS CLI downloads to a name of its own that begins with the one given.
    if [ -n "$scratch" ]; then rm -f "$scratch" "$scratch".*; fi
}
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# Runs a command; a signal ends the wait for it.
run() {
    "$@" &
    child=$!
    status=0
    wait "$child" || status=$?
    child=
    return "$status"
}

# Node labels, on every boot. `set -e` has no effect in these functions.

begin='# BEGIN captf node labels'
end='# END captf node labels'

# Prints the file without our block, then a new block if there are labels. `now` is what is odd
# about the file; the block's first line keeps it, so that removal restores every byte.
# Exit status 3: remove the file. 4: a block or a quote is never closed.
# shellcheck disable=SC2016
kubelet_file='
function closed(s) { return match(s, /^"([^"\\]|\\.)*"/) || match(s, /^\047[^\047]*\047/) }
{ line = $0; sub(/\r$/, "", line) }
index(line, begin) == 1 { inside = 1; was = substr(line, length(begin) + 1); next }
inside { if (line == end) inside = 0; next }
{ was = now; text[++n] = $0; plain[n] = line }
END {
    if (inside) exit 4
    if (!NR) was = now
    if (labels == "" && n == 0 && was == " (no file before)") exit 3
    # The last value outside our block; quotes and continued lines as systemd reads them.
    for (i = 1; i <= n && labels != ""; i++) {
        s = plain[i]
        if (s !~ /^[ \t]*(export[ \t]+)?KUBELET_EXTRA_ARGS[ \t]*=/) continue
        sub(/^[^=]*=/, "", s)
        sub(/^[ \t]+(#.*)?/, "", s)
        quote = substr(s, 1, 1)
        if (quote != "\"" && quote != "\047") quote = ""
        while (i < n && (s ~ /\\$/ || (quote != "" && !closed(s)))) {
            glue = sub(/\\$/, "", s) ? "" : " "
            s = s glue plain[++i]
        }
        if (quote != "") {
            if (!closed(s)) exit 4
            rest = substr(s, RLENGTH + 1)
            if (rest ~ /^[ \t]*$/ || rest ~ /^[ \t]+#/) s = substr(s, 2, RLENGTH - 2)
            else quote = ""
        }
        if (quote == "") sub(/[ \t]+#.*/, "", s)
        sub(/[ \t]+$/, "", s)
        value = s
    }
    for (i = 1; i <= n; i++)
        printf "%s%s", text[i], (i == n && labels == "" && was == " (no newline before)") ? "" : "\n"
    if (labels == "") exit 0
    if (quote == "") {
        quote = "\""
        if (value ~ /["$`\\]/ && value !~ /\047/) quote = "\047"
        else gsub(/["$`\\]/, "\\\\&", value)
    }
    if (value != "") value = value " "
    print begin was
    print "KUBELET_EXTRA_ARGS=" quote value "--node-labels=" labels quote
    print end
}'

kubelet_labels() {
    file=$1
    [ -d "${file%/*}" ] || return 0
    if [ -L "$file" ]; then file=$(readlink -f "$file") || return 1; fi
    now=
    source=$file
    if [ ! -e "$file" ]; then
        now=' (no file before)'
        source=/dev/null
    elif [ -n "$(tail -c 1 "$file")" ]; then
        now=' (no newline before)'
    fi
    if [ -z "$labels" ] && ! grep -q "^$begin" "$source"; then return 0; fi

    scratch=$file.captf-new
    rm -f "$scratch" || return 1
    if [ -e "$file" ]; then # mode and owner stay
        cp -p "$file" "$scratch" || return 1
    fi
    status=0
    LC_ALL=C awk -v begin="$begin" -v end="$end" -v labels="$labels" -v now="$now" \
        "$kubelet_file" "$source" >"$scratch" || status=$?
    case $status in
    0) mv -f "$scratch" "$file" || return 1 ;;
    3) rm -f "$file" "$scratch" || return 1 ;;
    4) say "$file: a block of ours or a quote is never closed"; return 1 ;;
    *) return 1 ;;
    esac
}

# Whether or not RKE2 is there yet: the bootstrap data may bring it.
rke2_labels() {
    file=/etc/rancher/rke2/config.yaml.d/50-captf-node-labels.yaml
    if [ -z "$labels" ]; then
        rm -f "$file"
        return
    fi
    mkdir -p "${file%/*}" || return 1
    scratch=$file.captf-new
    {
        echo 'node-label+:'
        printf '%s\n' "$labels" | tr ',' '\n' | sed 's/.*/  - "&"/'
    } >"$scratch" || return 1
    mv -f "$scratch" "$file"
}

not_registered() {
    say "error: $1: the node labels could not be brought up to date"
    failed=1
    rm -f "$scratch" || :
}

umask 022
for path in /etc/default/kubelet /etc/sysconfig/kubelet; do
    kubelet_labels "$path" || not_registered "$path"
done
rke2_labels || not_registered RKE2
scratch=

# Bootstrap data, once per instance.

instance_id() {
    if [ -n "${INSTANCE_ID:-}" ]; then
        printf '%s\n' "$INSTANCE_ID"
        return
    fi
    for path in /var/lib/cloud/data/instance-id /run/cloud-init/.instance-id; do
        if [ -s "$path" ]; then
            head -n 1 "$path"
            return
        fi
    done
    link=$(readlink /var/lib/cloud/instance) || return 0
    printf '%s\n' "${link##*/}"
}

# The beginning of line $1 of what was fetched.
line() { head -n "$1" "$scratch" | tail -n 1 | head -c 80 | tr '\000' '?'; }

id=$(instance_id)
if [ -z "$id" ]; then
    say 'warning: cloud-init gives no instance id: fetching on every boot'
elif [ -s "$installed" ] && [ "$(cat "$record" 2>/dev/null)" = "$id" ]; then
    exit "$failed"
fi

# What is there came with an AMI made of another instance. It goes first: a record is only ever
# written while there is no file that it could be wrong about.
mkdir -p "${installed%/*}"
rm -f "$installed" "$record"
umask 077
scratch=${installed%/*}/.99-captf-bootstrap.new
rm -f "$scratch" "$scratch".*

command -v aws >/dev/null 2>&1 ||
    die "no AWS CLI (aws) on this image: cannot fetch $object"
# One try of the CLI's own for each of ours, and no long wait: unbounded it takes minutes over a way that swallows
# everything, and 60 times that.
AWS_RETRY_MODE=standard
AWS_MAX_ATTEMPTS=1
export AWS_RETRY_MODE AWS_MAX_ATTEMPTS
n=1
until run aws s3 cp --region "$region" --cli-connect-timeout 5 --cli-read-timeout 15 \
    "$object" "$scratch" >/dev/null; do
    rm -f "$scratch" "$scratch".*
    if [ "$n" -ge "$tries" ]; then die "$object: not fetched in $tries tries"; fi
    say "$object: try $n of $tries failed"
    n=$((n + 1))
    run sleep 5
done
[ -s "$scratch" ] || die "$object: empty"

magic=$(od -A n -N 2 -t x1 "$scratch" | tr -d ' \n')
if [ "$magic" = 1f8b ]; then
    gzip -dc <"$scratch" >"$scratch.plain" || die "$object: damaged gzip data"
    mv -f "$scratch.plain" "$scratch"
fi

cr=$(printf '\r')
kind=$(line 1)
if [ "${kind%"$cr"}" = '## template: jinja' ]; then kind=$(line 2); fi
case $kind in
'#cloud-config-archive'* | '#cloud-config-jsonp'*) die "$object: not plain cloud-config" ;;
'#cloud-config'*) ;;
*) die "$object: not cloud-config" ;;
esac

chmod 600 "$scratch"
printf '%s\n' "$id" >"$record"
sync || :
mv -f "$scratch" "$installed"
scratch=
say "$object: installed for ${id:-an unknown instance}"
[ "$failed" -eq 0 ]
