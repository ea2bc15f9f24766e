import { expect, test } from 'bun:test'

/** A database never repeats a step that it has run, so a change to one of these steps would never reach it. */
const digests: Readonly<Record<string, string>> = {
  '0001_initial.sql': 'b635f4769a190b1dcc7c68c1efacf19251240022cff33bd998b4b05fbd3a915d',
  '0002_limit_since.sql': 'c9d07c6c5a4b5a5f1d9618e1f8db0a7639e93676e9efc71866f8a0643d0c3f88',
  '0003_room.sql': 'fe2c8862ccd318ef334b5792b7459919b778cf64044e4c4d82c90daa27db8886',
  '0004_price_lists.sql': '2d5599b51862c028b7752cee4ef0bcd33f37dde7e1884ce53c7eae81497fbfe9',
  '0005_audio_counts.sql': '2cd5c3bda52012ac57433f76e9e56d99cfb7b9e26da6ef9bf8ca6abadd2e66d5',
  '0006_upstream_resources.sql': 'faec9d79763628a92007163ec797d9c4f95e3aede1458cd1d21e9e0339be862e',
  '0007_former_secrets.sql': '99937c556193314db9903b3d9f303281d9ce1f836eca79e99abf136b4997f87e',
  '0008_search_units.sql': 'd30fd60e5924883f41c97501e11c3a8ed755dda8ff18bf26fb99b4ee1e0fec91',
  '0009_batch_lanes.sql': 'fe4a9262836d00f156b42a87fcea5732777227c9979269f6e666b70ee73bb276',
  '0010_native_jobs.sql': '9c108d84072f9ed89b536af2d61b50e18bd049f797c89f9454b9ad26c0cfd7fb',
  '0011_batch_dialects.sql': '994823875867475461eb64fa488c96c2911e7129bdfc184e8a503c92c85cefe7',
  '0012_files.sql': 'e7fbe8497715e6badcd6e9b48a8a0b5b62cc518f508b69babb0b4179658c7107',
  '0013_callbacks.sql': 'ebe4d7f12f38b1d37b63d6b50ff2a7131e3a0de1c8cd873774959ef4e425f657',
  '0014_imported_keys.sql': 'ee47e899a55165f92182b443770783f3e073b4526461ddb729bdf097e743749d',
  '0015_broadcasts.sql': '6b8d8334dc4b3b42da913487554a2910458dcd18c7d3c950e5b10ff131941426',
  '0016_request_log.sql': 'ecb281f3afb41dc4eb1727bd21b10130013bc7bb20b936e1d66cb413b5a2e71c',
  '0017_usage_quarters.sql': '919c73b43007ff3e34e2d23d3df4f9153e38cc4cea887aa5cabd0ce0e912cc6b',
  '0018_cut_jobs.sql': 'ba9441a0b6fa272bd60dd0c97d438bc167e8608fb93c800c3fe87d59c99e31a1',
  '0019_people.sql': 'bff3e2f9c9f720c940de83163b16b617919b0e62a4f8a5410fca4561f4b7f899',
  '0020_response_cache.sql': '53472af468f2526ee741abeb3110803681a04145adf7e03600130de853b3ee18',
  '0021_request_hours.sql': 'b5b35e0094d88f1ca6e40070ef33fcf3d71e9732bcad00ba3c33496bd10f646f',
  '0022_job_money.sql': 'c5ac7c8deaa685a12dd323a28d2e07ac56ba636697432dcb970214d6a2d2b8fe',
  '0023_removal_looks.sql': '2c6d523154bddf68241163449c733fc5643e5c3ef9aa4244c035d902a9e8a48e',
}

test('a migration is never changed, only followed by another', async () => {
  const folder = `${import.meta.dir}/migrations`
  const found: Record<string, string> = {}
  for (const file of new Bun.Glob('*.sql').scanSync(folder)) {
    const text = await Bun.file(`${folder}/${file}`).text()
    found[file] = new Bun.CryptoHasher('sha256').update(text).digest('hex')
  }
  expect(found).toEqual(digests)
})
