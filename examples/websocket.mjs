// Messages of WebSockets, limited for each user over all connections. A user that sends too many is told when to go on, and
// is disconnected if it does not stop.
import { createLimiters, tokenBucket } from 'sluice'
import { WebSocketServer } from 'ws'

const limiters = createLimiters({
  messages: tokenBucket({ capacity: 5, refill: '5/m' }),
  warnings: tokenBucket({ capacity: 3, refill: '3/m' }),
})

const server = new WebSocketServer({ port: process.env.PORT ?? 3000, host: '127.0.0.1', maxPayload: 64 * 1024 })

server.on('connection', (socket, request) => {
  // Stands for a login: take the user from a session or a token that you have verified.
  const user = new URL(request.url, 'ws://localhost').searchParams.get('user') || 'guest'

  socket.on('error', () => {}) // such as a message above maxPayload: ws closes the connection itself
  socket.on('message', (data) => {
    const { allowed, remaining, retryAfterMs } = limiters.messages.tryAcquire(user)
    if (allowed) {
      socket.send(JSON.stringify({ type: 'echo', text: data.toString(), remaining }))
    } else if (limiters.warnings.tryAcquire(user).allowed) {
      socket.send(JSON.stringify({ type: 'slow-down', retryAfterMs: Math.ceil(retryAfterMs) }))
    } else {
      socket.close(1008, 'too many messages') // 1008: policy violation. For an overload of the server use 1013
    }
  })
})

server.on('listening', () => console.log(`listening on http://127.0.0.1:${server.address().port}`))
