import { judgeBooks } from '../../clients/books.ts'
import { rowsOf } from '../../clients/client-rows.ts'
import { aiSdkClients, passedClients } from '../../clients/clients.ts'
import { createPackages } from '../../clients/packages.ts'
import { readTask } from '../../clients/task.ts'
import { startClientsWorld } from '../../clients/world.ts'
import { combine, type Proof } from '../proof.ts'

export const proof: Proof = {
  title:
    'AI SDK 5, 6 and 7 by every provider, and official clients on their own format: cases and validation errors',
  async run() {
    const packages = createPackages()
    const world = await startClientsWorld()
    try {
      const rows = await rowsOf([...aiSdkClients, ...passedClients], { packages, world, task: readTask() })
      const books = await judgeBooks(world)
      return combine([...rows, books])
    } finally {
      await world.stop()
      packages.remove()
    }
  },
}
