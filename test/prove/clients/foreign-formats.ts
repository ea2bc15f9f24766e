import { judgeBooks } from '../../clients/books.ts'
import { rowsOf } from '../../clients/client-rows.ts'
import { clients } from '../../clients/clients.ts'
import { createPackages } from '../../clients/packages.ts'
import { readTask } from '../../clients/task.ts'
import { startClientsWorld } from '../../clients/world.ts'
import { combine, type Proof } from '../proof.ts'

export const proof: Proof = {
  title: 'official clients on a provider of another format: cases, calls and validation errors of each',
  async run() {
    const packages = createPackages()
    const world = await startClientsWorld()
    try {
      const rows = await rowsOf(clients, { packages, world, task: readTask() })
      return combine([...rows, await judgeBooks(world)])
    } finally {
      await world.stop()
      packages.remove()
    }
  },
}
