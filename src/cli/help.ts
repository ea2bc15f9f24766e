/** The texts of `--help`, by command; the empty name is the list of all commands. */
export const helpOf: Readonly<Record<string, string>> = {
  '': `Headrace: one HTTP API in front of many model providers.

Usage: npx headrace <command> [options]

  serve                    start the gateway (npm start does the same)
  try                      run every operation against the running gateway
  models [part of an id]   what it serves, with prices
  prices                   which default prices count; prices update <package or file>
  batch run <file.jsonl>   estimate, upload and follow a batch
  batch watch [id]         follow a batch, or list the latest
  keys                     list, create, limit, disable and delete keys
  usage                    what was used and what it cost: --by day,key,model,user,provider --since 7d --csv
  requests                 the log of calls, answered or not: --outcome failed --model … --since 2h --follow
  credits                  balance and latest usage; credits add <amount>
  org                      the organization and its settings
  broadcasts               where generations are told, and how that goes; broadcasts redeliver <destination>
  admin link               a link that signs somebody in to the console
  import litellm <file>    providers, names and keys of a LiteLLM proxy
  doctor                   what is wrong here, and what to do
  simulator                simulated providers alone, for your own tests

  --help, --version        of the program; --help also of each command
  --print-config           the configuration as it is read, secrets hidden

Environment: HEADRACE_URL, HEADRACE_API_KEY and HEADRACE_MANAGEMENT_KEY say which gateway the commands call, and as
whom. Everything else: docs/configuration.md
Exit codes: 0 done, 1 failed, 2 the command line or the configuration is wrong, 130 left with Ctrl-C.
`,
  serve: `Usage: npx headrace serve [--print-config]

Starts the gateway: migrates its database, makes an organization and two keys at the first start, and listens.
Ctrl-C finishes what runs and stops. Configuration: docs/configuration.md
`,
  try: `Usage: npx headrace try [--print=curl|python|ts]

Calls chat, embeddings, speech, transcription, settings and a batch of the running gateway and shows what each took, cost
and left in the ledger. Without HEADRACE_API_KEY it makes temporary keys in the local data folder and disables them at
the end.

  --print   write the operations as code instead of running them
`,
  models: `Usage: npx headrace models [part of an id] [--json]
`,
  broadcasts: `Usage: npx headrace broadcasts
       npx headrace broadcasts redeliver <destination>

Shows what was told to each destination of "broadcasts" in the configuration, what waits, and what its last answer was.
redeliver tells it again what it did not take within a day, or refused; that is kept for seven days. Works on the
database directly, also while a gateway runs.
`,
  prices: `Usage: npx headrace prices
       npx headrace prices update <package, folder, archive or file> [--yes] [--force]
       npx headrace prices reset [--yes]

Shows which default prices count, or takes those of a newer @pydantic/genai-prices without a release: its folder, its
archive (.tgz), its data as JSON, or its name and version, which the npm of this machine then fetches. The package's code
is not run. Works on the database directly: all gateways on it take the prices within seconds. reset goes back to the
prices that the program came with. Prices of the configuration file win over both.

  --yes     do not ask after the comparison
  --force   take prices that look like a mistake: a thousand times as much or as little, or half of the models lost
`,
  batch: `Usage: npx headrace batch run <file.jsonl> [--model ID] [--endpoint PATH] [--yes]
       npx headrace batch watch [id] [--out FILE]
       npx headrace batch retry <id> [--out FILE]
       npx headrace batch deliveries <id>
       npx headrace batch redeliver <id>

A line of the file is {"custom_id":"…","body":{…}}; OpenAI's batch lines are fine as they are. Endpoint and model are
taken from the lines where they say them. retry makes a batch of the items that failed. deliveries shows how the end of a batch was told to its callback_url, redeliver
tells it again. Results go to <file.jsonl>.results.jsonl. Leaving with Ctrl-C does not stop a
batch. On the machine of the gateway's data no key is needed, elsewhere one in HEADRACE_API_KEY.

  --yes   do not ask after the estimate
  --out   write the results to this file when the batch has ended
`,
  keys: `Usage: npx headrace keys [list]
       npx headrace keys create [--management] [options]
       npx headrace keys set <id> [options]
       npx headrace keys rotate <id> [--overlap 24h]
       npx headrace keys disable|enable|delete <id>

Works on the database directly, also while a gateway runs. The secret of a new key is shown once.

  --name NAME
  --limit 5|none                      credits (USD) the key may spend in all, or since its reset; none ends the reset too
  --reset daily|weekly|monthly|none   from midnight UTC, Monday, the first; what was spent since then counts at once
  --expires 30d|2030-01-31|none       when the key ends: after a time, or at the beginning of a day (UTC)
  --requests-per-minute 600|none      429 beyond it; --batches-per-minute likewise for new batches
  --tokens-per-minute 100000|none     input and output of live calls; 429 until what was used has run off
  --allowed-providers openai,groq|all
  --allowed-models ID,ID|all          --ignored-providers and --ignored-models take names or none
  --require-zdr on|off                only endpoints that keep nothing
  --deny-data-collection on|off       only endpoints that neither store nor train on data
  --org ID                            another organization than the first

rotate gives the key another secret, shown once. Its id, limits, rules and usage stay; the secret before works for the
overlap (24h unless told otherwise; 0 ends it, and all before it, at once).

A key's rules come on top of its organization's: it can narrow them and never widen them.
`,
  usage: `Usage: npx headrace usage [--by day,key,model,user,provider] [--since 7d] [--csv] [--org ID]

Sums the usage rows: calls, tokens, seconds of audio, characters and what they cost. Works on the database directly, also
while a gateway runs.

  --by      what to sum by, in this order; day,model unless told otherwise
  --since   a time ago (24h, 7d) or a day (2026-11-01, UTC); 30d unless told otherwise
  --csv     lines for a spreadsheet, with exact amounts
`,
  requests: `Usage: npx headrace requests [--since 24h] [--outcome failed,refused] [--status 5xx] [--model ID] [--provider ID]
         [--key ID] [--user NAME] [--session NAME] [--error TYPE] [--batch ID] [--limit 50] [--json] [--follow] [--org ID]

Prints the log of calls, the newest first: what became of each, its model, key, tokens, times, cost and error. Works on the
database directly, also while a gateway runs.

  --since     a time ago (2h, 7d) or a time (2026-11-01, UTC); 24h unless told otherwise
  --outcome   answered, refused, failed, cancelled; several with commas
  --status    429, 5xx; several with commas
  --provider  a provider's slug, or the id of a deployment
  --json      one object a line
  --follow    prints calls as they end, until Ctrl-C
`,
  credits: `Usage: npx headrace credits [--org ID]
       npx headrace credits add <amount> [--org ID]

Shows the balance and the latest usage, or adds credits (1 credit = 1 USD). Works on the database directly.
`,
  org: `Usage: npx headrace org [--org ID]
       npx headrace org set <setting> <value> [--org ID]
       npx headrace org signing-secret [--org ID]

Shows the organization and its settings, or changes one. Works on the database directly, also while a gateway runs.

signing-secret makes the secret with which events of batches (callback_url) are signed, or another one in its place, and
shows it once.

  mode prepaid|tracked             prepaid: every call is held and paid from credits, and refused with 402 when they do
                                   not cover it, so add some first. tracked: costs are recorded, no balance limits them.
                                   What was running as tracked is booked when you set prepaid once more
  requests-per-minute 600|none     429 beyond it, over all its keys; batches-per-minute likewise for new batches, and
                                   tokens-per-minute for the tokens of live calls
  allowed-providers openai,groq|all
  ignored-providers groq|none
  allowed-models ID,ID|all
  ignored-models ID,ID|none
  require-zdr on|off               only endpoints that keep nothing
  deny-data-collection on|off      only endpoints that neither store nor train on data
  filtered-catalog on|off          whether model lists show only what a key can use
`,
  admin: `Usage: npx headrace admin link [--role admin|member|viewer] [--email ADDRESS] [--org ID]

Prints a link that signs somebody in to the console, once and within 24 hours. Links before it for the same person end.
Works on the database directly, also while a gateway runs.

  --email   the person: somebody who has this email (also one who lost the password), else somebody new
  --role    what somebody new may do: viewer reads figures, member also makes calls and batches, admin does everything

Without either it is a link for the first admin. HEADRACE_URL says where people reach this gateway, if that is not the
address that it listens on.
`,
  import: `Usage: npx headrace import litellm <config.yaml> [--database URL] [options]

Reads the configuration of a LiteLLM proxy, and its PostgreSQL database where --database names it: deployments, fallback
chains, aliases, prices, teams, budgets and keys. Clients keep their keys, which both gateways store as SHA-256. What has
no place here is listed with its line. Importing twice changes nothing, and what you edited in the file is kept. See
docs/moving-from-litellm.md.

  --database URL   LiteLLM's database; it is only read
  --dry-run        show what would be done, and do nothing
  --yes            add to an existing configuration file without asking; a copy of it is kept
  --prices FILE    LiteLLM's map of prices, for models whose price the file does not say
  --replace        put what is imported in the place of entries that the file has otherwise
  --org ID         the organization that gets the keys, instead of the first
`,
  doctor: `Usage: npx headrace doctor

Looks at configuration, disk, storage, clock, money, batches, providers and the running gateway. Exit code 1 when
something is wrong; every finding names the next step.
`,
  simulator: `Usage: npx headrace simulator [--port 4010] [--host 127.0.0.1]

Starts the simulated providers without a gateway, to test applications and gateways against.
`,
}
