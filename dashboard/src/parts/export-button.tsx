import { Download } from 'lucide-react'
import { useState } from 'react'
import { send } from '../api/client.ts'
import { asFailure, type ApiFailure } from '../api/failure.ts'
import { saveFile } from '../values/download.ts'
import { Button } from './button.tsx'

/** Saves all that an address below `/v1` answers as a file. */
export function ExportButton({ from, name }: { from: string; name: string }) {
  const [isBusy, setBusy] = useState(false)
  const [failure, setFailure] = useState<ApiFailure | null>(null)
  const save = async () => {
    setBusy(true)
    setFailure(null)
    try {
      const response = await send('GET', from)
      saveFile(await response.blob(), name)
    } catch (error) {
      setFailure(asFailure(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <>
      {failure !== null && (
        <span className="wrong" role="alert">
          {failure.message}
        </span>
      )}
      <Button isCompact isBusy={isBusy} onClick={() => void save()}>
        <Download size={14} aria-hidden />
        Export
      </Button>
    </>
  )
}
