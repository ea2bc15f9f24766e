/** The sign of Headrace: two banks and the channel between them. */
export function Mark({ size = 20 }: { size?: number }) {
  return (
    <svg className="mark" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true">
      <rect width="16" height="16" rx="3.5" />
      <path d="M4 3.5v9M12 3.5v9M4 6.5c2.7 0 2.7 3 5.3 3H12" />
    </svg>
  )
}
