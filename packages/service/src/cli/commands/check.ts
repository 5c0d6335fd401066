import { askForJson, serviceUrl, URL_OPTION } from '../ask-service.js'
import { type Command, UsageError } from '../command.js'
import { parseOptions } from '../parse-options.js'
import { readCost, readRequest, withAttributes } from '../read-request.js'
import { type ServiceVerdict, serviceVerdictText } from '../service-verdict-text.js'

const OPTIONS = {
  request: { value: 'JSON', help: `the request's attributes, beside those of the command line: '{"ip":"192.0.2.7"}'` },
  cost: { value: 'N', help: 'the cost of the request, a whole number from 0. Default 1; 0 looks and takes nothing' },
  url: URL_OPTION,
  json: { help: "prints the service's answer as JSON" },
} as const

/** The exit code for a denied request: not 1, so that a script can tell a denial from a service that does not answer. */
const DENIED = 3

export const check: Command = {
  summary: 'asks a running service whether a request may go',
  usage: '[NAME=VALUE...] [--request JSON] [--cost N] [--url URL] [--json]',
  about: 'Asks a running service whether a request with these attributes may go, and takes from its limits if it may.',
  options: OPTIONS,
  notes: `  $ sluice check method=POST path=/v1/charges merchant=acct_1

Exit code: 0 if the request is allowed; ${DENIED} if it is denied; 1 if the service does not answer; 2 if the command line or an
attribute is wrong.`,
  async run(args, io) {
    const { values, positionals } = parseOptions(args, OPTIONS)
    const url = serviceUrl(values.url, io.env)
    const attributes = withAttributes(values.request === undefined ? {} : readRequest(values.request), positionals)
    const body = JSON.stringify({ attributes, cost: readCost(values.cost) })
    if (values.request === undefined && positionals.length === 0)
      throw new UsageError('check needs attributes, such as method=POST path=/v1/charges, or --request JSON')
    const verdict = await askForJson<ServiceVerdict>(url, '/v1/check', 'allowed', { method: 'POST', body })
    const colours = io.stdout.isTTY === true && !io.env.NO_COLOR
    io.stdout.write(
      values.json === true ? `${JSON.stringify(verdict, null, 2)}\n` : serviceVerdictText(verdict, colours),
    )
    return verdict.allowed ? 0 : DENIED
  },
}
