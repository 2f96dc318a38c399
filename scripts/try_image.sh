#!/usr/bin/env bash
# Builds the image of deploy/Dockerfile without a daemon and without a registry of images, and starts it: as root, with
# buildah, crun and debootstrap from Debian. Both base images are made here: Debian from its packages, Node from this
# machine's. By hand; nothing in `make test` needs it.
#
#   scripts/try_image.sh [FOLDER]     FOLDER keeps the base images for the next time (a temporary one by default)
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/lib.sh

[ "$(id -u)" = 0 ] || stop "root is needed: bases are made with debootstrap."
for program in buildah crun debootstrap; do
  command -v "$program" >/dev/null 2>&1 || stop "apt-get install --no-install-recommends buildah crun debootstrap"
done
folder=${1:-}
[ -n "$folder" ] || { folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT; }
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
certificates=/etc/ssl/certs/ca-certificates.crt
export BUILDAH_ISOLATION=chroot
buildah() { command buildah --root "$folder/images" --runroot "$folder/run" "$@"; }

if ! buildah inspect --type image localhost/offhook-debian >/dev/null 2>&1; then
  heading "Debian, from its packages"
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -n 1)
  debootstrap --variant=minbase --include=ca-certificates bookworm "$folder/debian" "$mirror" >"$folder/debootstrap.log"
  # This machine may reach the registries through a proxy with a certificate of its own.
  cp -L $certificates "$folder/debian$certificates"
  base=$(buildah from scratch)
  buildah add --quiet "$base" "$folder/debian" /
  buildah config --env SSL_CERT_FILE=$certificates --env NODE_EXTRA_CA_CERTS=$certificates "$base"
  buildah commit --quiet "$base" localhost/offhook-debian >/dev/null
  heading "Node, from this machine"
  node=$(readlink -f "$(command -v node)")
  base=$(buildah from localhost/offhook-debian)
  buildah add --quiet "$base" "$node" /usr/local/bin/node
  buildah add --quiet "$base" "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" /usr/local/lib/node_modules/npm
  buildah run "$base" ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
  buildah commit --quiet "$base" localhost/offhook-node >/dev/null
  rm -rf "$folder/debian"
fi

heading "The image"
mounts=()
for file in /etc/pip.conf "$HOME/.npmrc" "$HOME/.config/pip/pip.conf"; do
  [ ! -f "$file" ] || mounts+=(--volume "$(readlink -f "$file"):$file:ro")
done
buildah bud --layers --quiet --file deploy/Dockerfile --build-arg DEBIAN=localhost/offhook-debian --build-arg NODE=localhost/offhook-node \
  "${mounts[@]}" --tag localhost/offhook . >/dev/null
buildah images --format '{{.Name}} {{.Size}}' localhost/offhook

heading "A container: read-only root, no rights"
# What it may write: the data folder and /tmp. A chroot, since cgroups for a container may be missing where this runs.
container=$(buildah from localhost/offhook)
root=$(buildah mount "$container")
mkdir -p "$folder/data"
chown 10001:10001 "$folder/data"
chmod 700 "$folder/data"
unshare --mount --pid --fork --kill-child --mount-proc bash -c '
  set -euo pipefail
  mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"
  mount --bind "$2" "$1/var/lib/offhook"
  mount -t tmpfs -o mode=1777 tmpfs "$1/tmp"
  mount -t proc proc "$1/proc"
  mount -t tmpfs -o mode=755 tmpfs "$1/dev"
  for device in null zero full random urandom; do touch "$1/dev/$device"; mount --bind "/dev/$device" "$1/dev/$device"; done
  mkdir -m 1777 "$1/dev/shm"
  exec chroot "$1" setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \
    env -i PATH=/opt/offhook/bin:/usr/bin:/bin HOME=/var/lib/offhook \
    OFFHOOK_DATA_DIR=/var/lib/offhook OFFHOOK_SAMPLE_CALL=false OFFHOOK_PORT="$3" offhook serve
' bash "$root" "$folder/data" "${OFFHOOK_PORT:-18480}" >"$folder/serve.log" 2>&1 &
serving=$!
trap 'pkill -TERM -P $serving || true; wait $serving 2>/dev/null || true; buildah umount "$container" >/dev/null; buildah rm "$container" >/dev/null' EXIT
for _ in $(seq 120); do
  if curl -fs "http://127.0.0.1:${OFFHOOK_PORT:-18480}/ready" >"$folder/ready.json" 2>/dev/null; then break; fi
  kill -0 $serving 2>/dev/null || { cat "$folder/serve.log"; stop "the container ended"; }
  sleep 1
done
cat "$folder/ready.json"
curl -fs "http://127.0.0.1:${OFFHOOK_PORT:-18480}/" | grep -o '<title>[^<]*' || stop "the page is not in the image"
heading "It answers"
