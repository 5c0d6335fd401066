import { onTestFinished } from 'vitest'
import { ServeProcess } from '../../../service/test/serve/serve-process.js'

/** What a person sees who has just typed `sluice serve`. */
export interface DemoService {
  /** Where the page is. */
  readonly url: string
  /** The same with the admin token behind `#`, as the service prints it. */
  readonly link: string
}

/** Starts `sluice serve` with the example policy and its demo. It is closed when the test has finished. */
export async function startDemo(): Promise<DemoService> {
  const service = await ServeProcess.start([], { SLUICE_DEMO: 'on' })
  onTestFinished(() => service[Symbol.asyncDispose]())
  const [, link] = /Open (http\S+)/.exec(service.stderr) ?? []
  if (link === undefined) throw new Error(`the service prints no link: ${service.stderr}`)
  return { url: service.url, link }
}
