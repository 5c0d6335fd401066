/** A command to copy, and what it does. */
export interface Command {
  readonly title: string
  readonly text: string
}

const EXAMPLE = { method: 'POST', path: '/v1/charges', merchant: 'acct_1' }

/** Commands for a terminal that speak of this service and of a request: the one that is inspected, or an example. */
export function commands(origin: string, attributes: Readonly<Record<string, string>>): readonly Command[] {
  const request = Object.keys(attributes).length === 0 ? EXAMPLE : attributes
  const url = ` --url ${quoted(origin)}`
  return [
    {
      title: 'Ask whether a request may go, and take its units',
      text: `curl ${quoted(`${origin}/v1/check`)} -d ${quoted(JSON.stringify({ attributes: request }))}`,
    },
    {
      title: 'The same with the command line',
      text: `sluice check --request ${quoted(JSON.stringify(request))}${url}`,
    },
    { title: 'Serve a policy of your own', text: 'sluice serve --policy policy.yaml' },
    {
      title: 'Explain how a policy file decides about a request',
      text: `sluice explain policy.yaml --request ${quoted(JSON.stringify(request))}`,
    },
    { title: 'See the busiest keys live, with the admin token', text: `SLUICE_ADMIN_TOKEN=… sluice top${url}` },
  ]
}

/** A word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w.:/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
