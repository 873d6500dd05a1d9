#!/bin/bash
# Start ClickHouse with the passwords of Fairclock's accounts, which users.d/fairclock.xml takes from the environment,
# as SHA-256 of what the secrets hold; of a cluster, what its servers know each other by too.
set -euo pipefail

for account in owner writer reader; do
    password=$(<"/run/secrets/clickhouse_$account")
    sum=$(printf %s "$password" | sha256sum)
    export "FAIRCLOCK_${account^^}_SHA256=${sum%% *}"
done
if [ -e /run/secrets/clickhouse_cluster ]; then
    FAIRCLOCK_CLUSTER_SECRET=$(</run/secrets/clickhouse_cluster)
    export FAIRCLOCK_CLUSTER_SECRET
fi
exec clickhouse-server --config-file=/etc/clickhouse-server/config.xml
