#!/bin/sh
# Asks a Sluice service whether a request may go. Exits with 0 if it may, and with 1 if it is denied.
#   SLUICE_URL=http://127.0.0.1:8080 sh check.sh acct_1
url=${SLUICE_URL:-http://127.0.0.1:8080}
attributes='{"merchant":"'${1:-acct_1}'","method":"POST","path":"/v1/charges","ip":"192.0.2.7"}'

# If the service does not answer within 0.5 s, the request may go: a limit must not take the API down.
verdict=$(curl --silent --fail --max-time 0.5 "$url/v1/check" --data '{"attributes":'"$attributes"'}') || {
  echo 'allowed: the service did not answer'
  exit 0
}

case $verdict in
  '{"allowed":true'*) echo 'allowed' ;;
  *) echo "denied: $verdict" && exit 1 ;;
esac
