import { docsStyle } from './docs-style.js'
import { answersOf, doorDescriptions, type OpenapiDocument } from './openapi-document.js'
import type { AnswerDescription, DoorDescription, JsonSchema, RouteDescription } from './route-description.js'
import { escapeHtml, proseHtml, schemaHtml } from './schema-html.js'

const PROBLEM = 'application/problem+json'
/** Longer values are broken into lines. */
const LONGEST_LINE = 70

/** A page, and the text of its style element. */
export interface DocsPage {
  readonly html: string
  readonly style: string
}

/** The description of the service as a page of HTML. It has no script and loads nothing. */
export function docsPage({ info, components }: OpenapiDocument): DocsPage {
  const { schemas } = components
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Sluice: the HTTP API</title>
<style>${docsStyle}</style>
</head>
<body>
<nav aria-label="Routes">
<p class="brand"><a href="#top">Sluice</a> <small>${escapeHtml(String(info.version))}</small></p>
${doorDescriptions.map(navigationOf).join('\n')}
<p class="group"><a href="#schemas">Schemas</a></p>
</nav>
<main id="top">
<h1>Sluice: the HTTP API</h1>
${proseHtml(String(info.description))}
<p><a href="/openapi.json">openapi.json</a> has the same for programs (OpenAPI 3.1).</p>
${doorDescriptions.map(sectionOf).join('\n')}
<section id="schemas">
<h2>Schemas</h2>
${Object.entries(schemas).map(namedSchema).join('\n')}
</section>
</main>
</body>
</html>
`
  return { html, style: docsStyle }
}

function navigationOf({ title, routes }: DoorDescription): string {
  const items = Object.keys(routes).map((route) => {
    const [method, path] = route.split(' ')
    return `<li><a href="#${anchorOf(route)}"><b class="${method.toLowerCase()}">${method}</b> ${escapeHtml(path)}</a></li>`
  })
  return `<p class="group">${escapeHtml(title)}</p>\n<ul>${items.join('')}</ul>`
}

function sectionOf(door: DoorDescription): string {
  const routes = Object.entries(door.routes).map(([route, description]) => routeOf(door, route, description))
  return `<section>\n<h2>${escapeHtml(door.title)}</h2>\n${proseHtml(door.about)}\n${routes.join('\n')}\n</section>`
}

function routeOf(door: DoorDescription, route: string, description: RouteDescription): string {
  const [method, path] = route.split(' ')
  const { summary, query, requestFields, body } = description
  const answers = Object.entries(answersOf(door, description))
  const errors = answers.filter(([, { type }]) => type === PROBLEM)
  const token = door.needsToken ? '<span class="token">needs the admin token</span>' : ''
  return `<article id="${anchorOf(route)}">
<h3><b class="${method.toLowerCase()}">${method}</b> <code>${escapeHtml(path)}</code> ${token}</h3>
<p class="summary">${escapeHtml(summary)}</p>
${description.description === undefined ? '' : proseHtml(description.description)}
${query === undefined ? '' : `<h4>Parameters</h4>\n${schemaHtml(querySchema(query))}`}
${requestFields === undefined ? '' : `<h4>Header fields</h4>\n${schemaHtml(fieldSchema(requestFields))}`}
${body === undefined ? '' : `<h4>Body</h4>\n${schemaHtml(body.schema)}`}
<h4>Try it</h4>
${codeBlock(curlOf(door, method, path, body?.example))}
<h4>Answers</h4>
${answersTable(answers.filter(([, { type }]) => type !== PROBLEM))}
<details><summary>Errors: ${errors.map(([status]) => status).join(', ')}</summary>
${answersTable(errors)}
</details>
</article>`
}

function answersTable(answers: readonly (readonly [string, AnswerDescription])[]): string {
  const rows = answers.map(([status, { description, schema, type, fields, example }]) => {
    const named = Object.entries(fields ?? {}).map(([name, about]) => `<br><code>${name}</code>: ${inline(about)}`)
    const media = type === undefined || type === PROBLEM ? '' : ` <small>${escapeHtml(type)}</small>`
    const body = schema === undefined ? '' : schemaHtml(schema)
    const shown = example === undefined ? '' : codeBlock(jsonText(example))
    return `<tr><th scope="row">${status}</th><td>${inline(description)}${media}${named.join('')}${body}${shown}</td></tr>`
  })
  return `<table class="answers"><tbody>\n${rows.join('\n')}\n</tbody></table>`
}

function codeBlock(text: string): string {
  // The keyboard can scroll a long line only if the block can have the focus.
  return `<pre tabindex="0"><code>${escapeHtml(text)}</code></pre>`
}

function namedSchema([name, schema]: [string, JsonSchema]): string {
  return `<article id="schema-${name}"><h3>${escapeHtml(name)}</h3>\n${schemaHtml(schema)}</article>`
}

function querySchema(query: NonNullable<RouteDescription['query']>): JsonSchema {
  const members = Object.entries(query).map(([name, { schema, description }]) => [name, { ...schema, description }])
  return { type: 'object', properties: Object.fromEntries(members) }
}

function fieldSchema(fields: NonNullable<RouteDescription['requestFields']>): JsonSchema {
  const members = Object.entries(fields).map(([name, description]) => [name, { type: 'string', description }])
  return { type: 'object', properties: Object.fromEntries(members) }
}

function curlOf({ needsToken }: DoorDescription, method: string, path: string, example: unknown): string {
  const isPlain = method === 'GET' || method === 'ANY' || (method === 'POST' && example !== undefined)
  const options = [
    ...(isPlain ? [] : [`-X ${method}`]),
    ...(path.endsWith('/events') ? ['-N'] : []),
    ...(needsToken ? ['-H "Authorization: Bearer $SLUICE_ADMIN_TOKEN"'] : []),
    ...(example === undefined ? [] : [`-d '${jsonText(example)}'`]),
  ]
  return [`curl http://localhost:8080${path}`, ...options].join(' \\\n  ')
}

/** On one line if it is short. */
function jsonText(value: unknown): string {
  const line = JSON.stringify(value)
  return line.length <= LONGEST_LINE ? line : JSON.stringify(value, null, 2)
}

function inline(text: string): string {
  return proseHtml(text).replace(/^<p>|<\/p>$/g, '')
}

function anchorOf(route: string): string {
  return route.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
}
