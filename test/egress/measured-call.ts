// A call in a process of its own, so that its memory can be measured: prints the answer and by how many MB the process grew.
import { callOut } from '../../src/egress/client.ts'

const [port = 0, quietPort = 0, totalMs = 0] = process.argv.slice(2).map(Number)

const call = (to: number) =>
  callOut(
    { allow: [{ address: '127.0.0.1', prefix: 32, port: to }], listener: { addresses: [], port: 1 } },
    async () => ['127.0.0.1'],
    {
      url: `http://hooks.shop.example:${to}/`,
      method: 'POST',
      headers: {},
      body: '{}',
      limits: { resolveMs: 5000, connectMs: 5000, totalMs, answerBytes: 4096 },
      onLargeAnswer: 'cut',
    },
  )

// The first calls load code, which is no cost of a hostile answer.
for (let i = 0; i < 3; i++) await call(quietPort)
const before = process.resourceUsage().maxRSS
const answer = await call(port)
const grownMb = (process.resourceUsage().maxRSS - before) / 1024
const bodyBytes = answer.ok ? answer.body.length : 0
process.stdout.write(JSON.stringify({ said: answer.ok ? 'ok' : answer.failure, status: answer.status, bodyBytes, grownMb }))
process.exit(0)
