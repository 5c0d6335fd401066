export function proxyCommand(name: 'nginx' | 'caddy' | 'haproxy'): string
