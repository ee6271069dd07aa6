#!/usr/bin/env python3
"""Renders sneaker.jpg, the picture the walk-through uploads: a shoe on a table, about as large as a phone's photo.

Needs Pillow and numpy (`pip install pillow numpy`). The picture is kept in the repository, so nobody has to run this
to use the simulator.
"""
import pathlib

import numpy
from PIL import Image, ImageDraw, ImageFilter

WIDTH, HEIGHT = 1600, 1200


def background(random):
    """A lit table: a vertical gradient with the grain of a photograph."""
    shade = numpy.linspace(228, 176, HEIGHT)[:, None, None] * numpy.array([1.0, 0.985, 0.95])
    picture = numpy.broadcast_to(shade, (HEIGHT, WIDTH, 3)) + random.normal(0, 5, (HEIGHT, WIDTH, 1))
    return Image.fromarray(picture.clip(0, 255).astype("uint8"))


def shadow(picture):
    layer = Image.new("L", picture.size, 0)
    ImageDraw.Draw(layer).ellipse((170, 880, 1450, 1010), fill=120)
    picture.paste((70, 66, 60), mask=layer.filter(ImageFilter.GaussianBlur(28)))


def shoe(picture):
    draw = ImageDraw.Draw(picture)
    upper = [(230, 880), (215, 640), (250, 470), (330, 420), (430, 470), (560, 500), (700, 430), (800, 470),
             (960, 620), (1130, 700), (1300, 740), (1390, 800), (1400, 880)]
    draw.polygon(upper, fill=(240, 240, 236), outline=(120, 120, 116), width=4)
    draw.polygon([(215, 640), (250, 470), (330, 420), (400, 455), (380, 700), (340, 880), (230, 880)],
                 fill=(38, 84, 150), outline=(20, 50, 96), width=4)
    draw.polygon([(1060, 672), (1130, 700), (1300, 740), (1390, 800), (1400, 880), (1120, 880), (1050, 790)],
                 fill=(38, 84, 150), outline=(20, 50, 96), width=4)
    for step in range(3):
        left = 520 + step * 110
        draw.polygon([(left, 860), (left + 45, 860), (left + 165, 600), (left + 130, 580)], fill=(196, 52, 44))
    for step in range(6):
        x, y = 690 + step * 55, 470 + step * 38
        draw.line((x, y + 40, x + 95, y - 18), fill=(252, 252, 250), width=18)
        draw.ellipse((x - 9, y + 31, x + 9, y + 49), fill=(90, 90, 90))
    draw.rounded_rectangle((205, 870, 1425, 950), radius=38, fill=(250, 249, 245), outline=(150, 150, 145), width=4)
    for x in range(240, 1400, 24):
        draw.line((x, 915, x + 10, 945), fill=(200, 199, 194), width=3)
    for x in range(250, 1390, 16):
        draw.line((x, 884, x + 8, 884), fill=(160, 160, 155), width=2)


def main():
    random = numpy.random.default_rng(8642)
    picture = background(random)
    shadow(picture)
    shoe(picture)
    grain = random.normal(0, 4, (HEIGHT, WIDTH, 3))
    picture = Image.fromarray((numpy.asarray(picture) + grain).clip(0, 255).astype("uint8"))
    picture.save(pathlib.Path(__file__).with_name("sneaker.jpg"), quality=62, optimize=True)


if __name__ == "__main__":
    main()
