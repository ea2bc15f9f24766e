import { describe, expect, test } from 'bun:test'
import { eachDatabase } from '../../test/support/databases.ts'

const insertSql = 'insert into prices (price_id, price_json) values ($1, $2)'

eachDatabase((name, open) => {
  describe('the character NUL', () => {
    test('in a value is stored as the replacement character', async () => {
      const database = await open()
      await database.commit({
        name: 'test',
        statements: [
          { sql: insertSql, params: [`${name}\0one`, 'a\0b'] },
          { sql: insertSql, rows: [[`${name}\0two`, '\0']] },
        ],
      })
      expect(
        await database.query(
          'select price_id, price_json from prices where price_id like $1 order by price_id',
          [`${name}%`],
        ),
      ).toEqual([
        { price_id: `${name}\ufffdone`, price_json: 'a\ufffdb' },
        { price_id: `${name}\ufffdtwo`, price_json: '\ufffd' },
      ])
    })

    test('in a query matches no row', async () => {
      const database = await open()
      expect(await database.query('select 1 as found from prices where price_id = $1', ['\0'])).toEqual([])
    })
  })
})
