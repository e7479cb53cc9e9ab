BBBB BBBB BBBBBB
 #

XXXXXXXX XXXXXXX pgettext(u'heading', u'Undelivered mail') X
         XXXXXXXX
         XXXXXXXXXX
  XXXX XXXXXXXXXXXXXXXXXXX
    XXXXXX XXXXXXXXXXX XXXXXXX
      XXXXXXX
        XXXX
          XXXX pgettext(u'column', u'To') XXXXX
          XXXX pgettext(u'column', u'About') XXXXX
          XXXX pgettext(u'column', u'State') XXXXX
          XXXX pgettext(u'column, why', u'Reason') XXXXX
          XXXX pgettext(u'column', u'Time') XXXXX
        XXXXX
      XXXXXXXX
      XXXXXXX
        BBB BBBB BB BBBBB
          XXXX
            XXX XXXXXXXXXXX XXXXXXXXXXX
            XXX XXXXXXXXXXXX pgettext(u'column', u'About') XXFFFFFFFFFFXXXXX
            XXX XXXXXXXXXXXXXXX
              XXXXXXXX XXXXXXXXXXXXX
                       XXXXXXXBB BBBBBBBBBBBBBBXXXXXXBBBBXXXXXXXXBBBBBX XX
            XXXXX
            XXX XXXXXXXXXXXXFFFFFFFFFFXXXXX
            XXX XXXXXXXXXXXX XXXXXXXXFFFXXXXX
          XXXXX
        BBBBBB
      XXXXXXXX
    XXXXXXXX
  XXXXXX
XXXXXXXXXX
