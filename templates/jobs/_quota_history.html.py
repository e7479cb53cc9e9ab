BBBB BBBB BBBBBB
 #

BB BBBBBBB
  XXXX XXXXXXXXXXXXXXXXXXX
    XXXXXX XXXXXXXXXXX XXXXXXX
      XXXXXXX
        BBB B BB BBBBBBB
          XXXX
            XXX XXXXXXXXXXXXX XXXXXXXFFFXXXXX
            XXX XXXXXXXXXXXXX
              BBB BBBB BB BBBBBBB
                XXXX XXXXXXXXXXXXXX
                  FFFFFFFFFF X
                  BB BBBBBBBBBBBBBB pgettext(u'value', u'Organization') BBBBBX
                  XXXXX XXXXXXXXXXXXXXFFFFFFFFFFXXXXXXX X FFFFFFFFFF
                XXXXXX
              BBBBBB
              BB BBBBBB
                XXXX XXXXXXXXXXXX XXXXXXX
                   pgettext(u'value', u'and %(n)s more') SSS SSSSS SSSS
                XXXXXX
              BBBBB
            XXXXX
            XXX XXXXXXXXXXXX XXXXX XXXXXXXXXXX
          XXXXX
        BBBBBB
      XXXXXXXX
    XXXXXXXX
  XXXXXX
BBBB
  XX XXXXXXXXXXX XXXXX XXXXXXX gettext(u'No limits have been changed yet.') XXXX
BBBBB
