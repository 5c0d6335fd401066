/** A section of a Redis server's `INFO`, by name, as text. */
export async function redisInfo(client, section) {
  const lines = (await client.info(section)).split('\r\n')
  return Object.fromEntries(lines.filter((line) => line.includes(':')).map((line) => line.split(':')))
}

/** CPU time that the server's command thread has used so far, in microseconds. */
export async function redisCpuUs(client) {
  const { used_cpu_user_main_thread: user, used_cpu_sys_main_thread: system } = await redisInfo(client, 'cpu')
  return (Number(user) + Number(system)) * 1e6
}
