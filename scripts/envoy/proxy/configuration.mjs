// Configurations of Envoy for the tests: that of the docs, with free ports and time enough for a busy machine.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { root } from '../../workspaces.mjs'

const LONG = '10s'
const examples = join(root, 'packages/service/examples/envoy')
export const policy = join(examples, 'policy.yaml')
export const configurationFile = join(examples, 'envoy.yaml')

/** An example of the docs, as an object. */
export const example = (name) => parse(readFileSync(join(examples, name), 'utf8'))

/** The docs' `envoy.yaml` with the parts that a test changes, for an application and Sluice at these ports. */
export function docsConfiguration(application, sluice) {
  const configuration = example('envoy.yaml')
  const { listeners, clusters } = configuration.static_resources
  const [listener] = listeners
  listener.address.socket_address = { address: '127.0.0.1', port_value: 0 }
  const manager = listener.filter_chains[0].filters[0].typed_config
  const [filter] = manager.http_filters
  filter.typed_config.timeout = LONG
  const [applicationCluster, sluiceCluster] = clusters
  setPort(applicationCluster, application)
  setPort(sluiceCluster, sluice)
  const virtualHost = manager.route_config.virtual_hosts[0]
  return {
    configuration,
    manager,
    filter: filter.typed_config,
    cluster: sluiceCluster,
    virtualHost,
    route: virtualHost.routes[0].route,
  }
}

function setPort(cluster, port) {
  const [{ endpoint }] = cluster.load_assignment.endpoints[0].lb_endpoints
  endpoint.address.socket_address.port_value = port
}
