import { readFileSync } from 'node:fs'
import { proxyCommand } from '../../../../scripts/get-proxies.mjs'
import type { ProxyStart } from './proxy-process.js'

/** Where a recipe is run. */
export interface Place {
  readonly folder: string
  readonly ports: readonly number[]
  readonly servicePort: number
  readonly appPort: number
}

/** A proxy with the configuration from `examples/proxies`. */
export interface Recipe {
  readonly name: string
  /** Leaves out the part that lets requests pass while the service does not answer. */
  closed(text: string): string
  start(text: (file: string) => string, place: Place): ProxyStart
}

const FOLDER = new URL('../../examples/proxies/', import.meta.url)

/** Settings that a test needs besides the recipe: one process, and no file outside of its folder. */
const NGINX = `daemon off;
master_process off;
pid nginx.pid;
error_log stderr;
events { worker_connections 256; }
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  include sluice.conf;
}
`

export const RECIPES: readonly Recipe[] = [
  {
    name: 'nginx',
    closed: (text) => replaced(text, / +error_page 500 502 503 504 = @open;\n/, ''),
    start: (text, { folder }) => ({
      files: { 'nginx.conf': NGINX, 'sluice.conf': text('nginx/sluice.conf') },
      command: proxyCommand('nginx'),
      args: ['-e', 'stderr', '-p', folder, '-c', `${folder}/nginx.conf`],
    }),
  },
  {
    name: 'caddy',
    closed: (text) => replaced(text, /\t+reverse_proxy @unasked .*\n/, ''),
    start: (text, { folder }) => ({
      files: { Caddyfile: `{\n\tadmin off\n}\n${text('caddy/Caddyfile')}` },
      command: proxyCommand('caddy'),
      args: ['run', '--adapter', 'caddyfile', '--config', `${folder}/Caddyfile`],
    }),
  },
  {
    name: 'haproxy',
    closed: (text) => replaced(text, / \|\| \{ var\(txn\.sluice\) -m str down \}/, ''),
    start: (text) => ({
      files: { 'haproxy.cfg': text('haproxy/haproxy.cfg'), 'sluice.lua': readExample('haproxy/sluice.lua') },
      command: proxyCommand('haproxy'),
      args: ['-db', '-f', 'haproxy.cfg'],
    }),
  },
]

export function readExample(file: string): string {
  return readFileSync(new URL(file, FOLDER), 'utf8')
}

/**
 * The configuration of a recipe with the ports of this test in place of its own. It also waits longer for the service, so that
 * a busy machine does not look like a dead service.
 */
export function placed(text: string, { ports, servicePort, appPort }: Place): string {
  const moved = [
    [8000, ports[0]],
    [8080, servicePort],
    [3000, appPort],
  ].reduce((all, [from, to]) => replaced(all, new RegExp(`127\\.0\\.0\\.1:${from}\\b`, 'g'), `127.0.0.1:${to}`), text)
  return replaced(moved, /250ms/g, '1500ms').replaceAll('127.0.0.1:8081', `127.0.0.1:${ports[1]}`)
}

function replaced(text: string, pattern: RegExp, by: string): string {
  const changed = text.replace(pattern, by)
  if (changed === text) throw new Error(`the recipe has no ${pattern}`)
  return changed
}
