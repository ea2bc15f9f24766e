import { basePath } from './place.ts'

/** Whether the gateway answers at all, so that loading the page anew would not lose it. */
export function gatewayAnswers(): Promise<boolean> {
  return fetch(`${basePath}/ui/`, { method: 'HEAD', cache: 'no-store' }).then(
    () => true,
    () => false,
  )
}
