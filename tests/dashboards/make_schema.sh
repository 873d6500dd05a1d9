#!/usr/bin/env bash
# Distil grafana-schema.json, which the tests hold the dashboards against, from the types that Grafana publishes.
#
# Needs node, npm and the npm registry; run it in an empty folder when another Grafana is deployed, with its version.
set -euo pipefail
version=${1:?the version of Grafana, such as 12.4.0}
target=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/grafana-schema.json

npm init -y >/dev/null
npm install "@grafana/schema@$version" typescript@5.9 ts-json-schema-generator@2.4.0
types=node_modules/@grafana/schema/dist/types/raw
mkdir -p schemas
generate() { # NAME FILE TYPE
    printf '{"compilerOptions":{"strict":true,"skipLibCheck":true,"moduleResolution":"node","target":"es2020","module":"es2020"},"files":["%s"]}' "$2" >tsconfig.json
    npx ts-json-schema-generator --path "$2" --type "$3" --tsconfig tsconfig.json --no-type-check -o "schemas/$1.json"
}
generate dashboard "$types/dashboard/x/types.gen.d.ts" Dashboard
for kind in timeseries stat table bargauge heatmap state-timeline barchart text; do
    generate "$kind.options" "$types/composable/${kind//-/}/panelcfg/x/types.gen.d.ts" Options
done
for kind in timeseries table heatmap state-timeline barchart; do
    generate "$kind.custom" "$types/composable/${kind//-/}/panelcfg/x/types.gen.d.ts" FieldConfig
done

python3 - "$version" "$target" <<'PYTHON'
import json, pathlib, sys

def plain(tree):
    if isinstance(tree, dict):
        return {k: plain(v) for k, v in tree.items() if k != "$comment" and not (k == "description" and isinstance(v, str))}
    return [plain(each) for each in tree] if isinstance(tree, list) else tree

version, target = sys.argv[1:]
found = {
    "source": f"npm @grafana/schema {version} (Apache-2.0, Grafana Labs): dist/types/raw/dashboard/x and dist/types/raw/composable/*/panelcfg/x",
    "made_by": "tests/dashboards/make_schema.sh: ts-json-schema-generator 2.4.0 --no-type-check, descriptions left out",
    "schemas": {path.stem: plain(json.loads(path.read_text())) for path in sorted(pathlib.Path("schemas").glob("*.json"))},
}
pathlib.Path(target).write_text(json.dumps(found, sort_keys=True, separators=(",", ":")))
PYTHON
