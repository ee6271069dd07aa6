package com.example.shop

/** A picture for tests: one white pixel, as PNG. The platform checks its structure. */
object Pictures {
    val png: ByteArray = (
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de000000" +
            "0c49444154789c63f8ffff3f0005fe02fe0def46b80000000049454e44ae426082"
        ).chunked(2).map { it.toInt(16).toByte() }.toByteArray()
}
