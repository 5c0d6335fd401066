/** What a command sees of the process that it runs in. */
export interface Io {
  readonly stdin: AsyncIterable<Buffer>
  readonly stdout: { write(text: string): unknown; readonly isTTY?: boolean }
  readonly stderr: { write(text: string): unknown }
  readonly env: Readonly<Record<string, string | undefined>>
}
