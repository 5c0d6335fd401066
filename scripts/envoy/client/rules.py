"""The rules that most cases ask about, in two files."""

FILES = {
    "test.yaml": """
domain: test
descriptors:
  - key: ten
    rate_limit: { unit: day, requests_per_unit: 10, name: ten }
  - key: three
    rate_limit: { unit: day, requests_per_unit: 3 }
  - key: second
    rate_limit: { unit: second, requests_per_unit: 5 }
  - key: minute
    rate_limit: { unit: MINUTE, requests_per_unit: 5 }
  - key: hour
    rate_limit: { unit: hour, requests_per_unit: 5 }
  - key: week
    rate_limit: { unit: week, requests_per_unit: 5 }
  - key: month
    rate_limit: { unit: month, requests_per_unit: 5 }
  - key: year
    rate_limit: { unit: year, requests_per_unit: 5 }
  - key: zero
    rate_limit: { unit: day, requests_per_unit: 0 }
  - key: free
    rate_limit: { unlimited: true }
  - key: shadow
    shadow_mode: true
    rate_limit: { unit: day, requests_per_unit: 2 }
  - key: described
    metadata: { team: web, cost: 1.5, tags: [a, b], deep: { is: true, none: null } }
    rate_limit: { unit: day, requests_per_unit: 2 }
  - key: quota
    value: one
    quota_mode: true
    metadata: { pool: one }
    rate_limit: { unit: day, requests_per_unit: 2 }
  - key: quota_two
    quota_mode: true
    rate_limit: { unit: day, requests_per_unit: 2 }
  - key: quota_three
    quota_mode: true
    rate_limit: { unit: day, requests_per_unit: 4 }
  - key: quota_thirty
    quota_mode: true
    rate_limit: { unit: day, requests_per_unit: 30 }
  - key: quota_fifty
    quota_mode: true
    rate_limit: { unit: day, requests_per_unit: 50 }
  - key: tokens
    count_over_limit: true
    rate_limit: { unit: day, requests_per_unit: 100 }

  # Matching.
  - key: path
    value: /exact
    rate_limit: { unit: day, requests_per_unit: 11 }
  - key: path
    value: /a*
    rate_limit: { unit: day, requests_per_unit: 12 }
  - key: path
    value: /ab*
    rate_limit: { unit: day, requests_per_unit: 13 }
  - key: path
    value: "*.png"
    rate_limit: { unit: day, requests_per_unit: 14 }
  - key: path
    value: /x/*/y/*
    rate_limit: { unit: day, requests_per_unit: 15 }
  - key: path
    rate_limit: { unit: day, requests_per_unit: 16 }
  - key: only_exact
    value: yes
    rate_limit: { unit: day, requests_per_unit: 17 }
  - key: number
    value: 007
    rate_limit: { unit: day, requests_per_unit: 18 }
  - key: a
    value: b_c
    rate_limit: { unit: day, requests_per_unit: 21 }

  # Nested.
  - key: app
    value: shop
    rate_limit: { unit: day, requests_per_unit: 30 }
    descriptors:
      - key: user
        rate_limit: { unit: day, requests_per_unit: 31 }
        descriptors:
          - key: action
            value: buy
            rate_limit: { unit: day, requests_per_unit: 32 }
      - key: silent
        descriptors:
          - key: action
            rate_limit: { unit: day, requests_per_unit: 33 }
  - key: app
    rate_limit: { unit: day, requests_per_unit: 40 }
    descriptors:
      - key: other
        rate_limit: { unit: day, requests_per_unit: 41 }

  # Shared thresholds.
  - key: file
    value: doc*
    share_threshold: true
    rate_limit: { unit: day, requests_per_unit: 3 }
  - key: file
    value: img*
    rate_limit: { unit: day, requests_per_unit: 3 }
  - key: tree
    value: a*
    share_threshold: true
    descriptors:
      - key: leaf
        rate_limit: { unit: day, requests_per_unit: 3 }

  # Replaces.
  - key: base
    rate_limit: { unit: day, requests_per_unit: 3, name: base }
  - key: free_base
    rate_limit: { unlimited: true, name: base }
  - key: special
    rate_limit: { unit: day, requests_per_unit: 100, name: special, replaces: [{ name: base }, { name: ten }] }
  - key: pass
    rate_limit: { unlimited: true, replaces: [{ name: base }] }

  # Metrics.
  - key: plain_metric
    rate_limit: { unit: day, requests_per_unit: 5 }
  - key: detailed
    detailed_metric: true
    rate_limit: { unit: day, requests_per_unit: 5 }
  - key: valued
    value_to_metric: true
    descriptors:
      - key: sub
        rate_limit: { unit: day, requests_per_unit: 5 }
  - key: wild_metric
    value: a*
    value_to_metric: true
    rate_limit: { unit: day, requests_per_unit: 5 }
  - key: shared_metric
    value: a*
    value_to_metric: true
    share_threshold: true
    rate_limit: { unit: day, requests_per_unit: 5 }
  - key: shadow_metric
    shadow_mode: true
    rate_limit: { unit: day, requests_per_unit: 1 }
""",
    "team/more.yml": """
domain: more
descriptors:
  - key: ten
    rate_limit: { unit: day, requests_per_unit: 7 }
  - key: remote_address
    cidr: [10.0.0.0/8, "2001:db8::/32"]
    rate_limit: { unit: day, requests_per_unit: 50 }
  - key: remote_address
    cidr: 192.0.2.0/24
    share_threshold: true
    rate_limit: { unit: day, requests_per_unit: 2 }
  - key: remote_address
    rate_limit: { unit: day, requests_per_unit: 51 }
  - key: path
    prefix: [/api/, /v1/]
    rate_limit: { unit: day, requests_per_unit: 60, algorithm: sliding-window }
  - key: path
    prefix: /shared/
    share_threshold: true
    rate_limit: { unit: day, requests_per_unit: 2 }
  - key: several
    rate_limit:
      - { unit: minute, requests_per_unit: 3, name: burst }
      - { unit: month, requests_per_unit: 5 }
  - key: thirty
    rate_limit: { window: 30s, requests_per_unit: 4 }
  - key: five_minutes
    rate_limit: { window: 5m, requests_per_unit: 4 }
  - key: bucket
    rate_limit: { algorithm: token-bucket, window: 1h, requests_per_unit: 1, burst: 3 }
  - key: log
    rate_limit: { algorithm: sliding-log, window: 36h, requests_per_unit: 2 }
  - key: sliding
    rate_limit: { algorithm: sliding-window, unit: hour, requests_per_unit: 2 }
""",
    "empty.yaml": "domain: empty\n",
    "notes.txt": "this is no YAML: [",
    ".hidden.yaml": "nor: [is this",
}
