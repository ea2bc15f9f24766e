/** A stylesheet that is imported for its effect; it becomes a part of the console's one stylesheet. */
declare module '*.css'
