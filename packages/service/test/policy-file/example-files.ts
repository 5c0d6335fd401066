/** Good policy files. Together they use every feature of a policy. */
const BUCKET = '{ algorithm: token-bucket, capacity: 20, refill: 5/s }'

/** The smallest policy, with another limit or more lines after it. */
export function small(limit: string = BUCKET, more = ''): string {
  return `version: 1\nlevels:\n  - name: a\n    limit: ${limit}\n${more}`
}

export const GOOD_YAML: Readonly<Record<string, string>> = {
  smallest: small(),
  'every algorithm': `
version: 1
name: api
ipv6Prefix: 64
levels:
  - { name: token, limit: ${BUCKET} }
  - { name: leaky, limit: { algorithm: leaky-bucket, capacity: 20, drain: 10/250ms } }
  - { name: fixed, limit: { algorithm: fixed-window, quota: 7, window: 1m, align: first } }
  - { name: sliding, limit: { algorithm: sliding-window, quota: 7, window: 60s, slices: 10, align: epoch } }
  - { name: log, limit: { algorithm: sliding-log, quota: 7, window: 1.5s } }
  - { name: running, limit: { algorithm: concurrency, max: 7, ttl: 30s } }
  - { name: jobs, limit: { algorithm: concurrency, max: 8 } }
  - { name: free, limit: { algorithm: unlimited } }
`,
  'everything and nothing': `
version: 1
levels:
  - name: user
    key: user
    limit: { algorithm: token-bucket, capacity: 0, refill: 5/s }
    overrides:
      - { when: { user: partner }, limit: { algorithm: unlimited } }
      - { when: { user: queue }, limit: { algorithm: leaky-bucket, capacity: 0, drain: 5/s } }
      - { when: { user: gone }, limit: { algorithm: fixed-window, quota: 0, window: 1m } }
      - { when: { user: late }, limit: { algorithm: sliding-window, quota: 0, window: 1m } }
      - { when: { user: old }, limit: { algorithm: sliding-log, quota: 0, window: 1m } }
      - { when: { user: new }, limit: { algorithm: concurrency, max: 0 } }
`,
  'every condition': `
version: 1
levels:
  - name: all
    when:
      method: [post, GET]
      path: [/v1/charges/:id, /v1/**]
      ip: [10.0.0.0/8, '2001:db8::/32', 192.0.2.1]
      merchant: null
      plan: [free, null, 3, true]
      beta: { present: true }
      team: { not: [red, null] }
      route: { path: /a/* }
      proxy: { cidr: 10.0.0.0/8 }
      '007': 'yes'
    limit: ${BUCKET}
`,
  'everything else of a level': `
version: 1
levels:
  - name: user.level-1_x
    key: [tenant, user]
    limit:
      - { algorithm: token-bucket, capacity: 10, refill: 10/s }
      - { algorithm: fixed-window, quota: 250, window: 1d }
    overrides:
      - when: { tenant: big }
        limit: { algorithm: token-bucket, capacity: 1000, refill: 100/s }
    cost: units
    shadow: true
    onFailure: local
    blockFor: { first: 1m, factor: 1.5, most: 1d, forget: 7d }
  - { name: two, limit: ${BUCKET}, blockFor: 15m }
  - { name: three, limit: ${BUCKET}, blockFor: { first: 1h } }
  - { name: one, key: ip, cost: 3, shadow: false, onFailure: closed, limit: ${BUCKET} }
`,
  aliases: `
version: 1
levels:
  - { name: a, key: [x], limit: &small ${BUCKET} }
  - { name: b, key: [y], limit: *small }
`,
  'an editor’s line': `# yaml-language-server: $schema=x.json\n$schema: x.json\n---\n${small()}...\n`.replace(
    '$schema: x.json\n---',
    '---\n$schema: x.json',
  ),
}
