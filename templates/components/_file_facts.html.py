BBBB BBBB BBBBBB
 #

BBBB BBBBBBBBBBBBB
  XXXX XXXXXXXXXXXXXXXXX XXXXXXX
    XXXXX XXXXXXXXXXXXXX
      
      BB BBBBBBBBBBBBBBX BBBBB
      BB BBBBBBBBBBBBBBX BBBBB
      BB BBBBBBBX XXXXX BBBBB
      BB BBBBBBBBBBBB
        X
         npgettext(u'number of things', u'%(shown)s parameter', u'%(shown)s parameters',count) 
          SSSSSSSSS SSSSSSSSS
        
          PPPPPPPPP PPPPPPPPPP
        
      BBBBB
      BBB BBBBB BBBBB BB BBBBBBBBBBBBBX  FFFFFFFFBBBBBB
    XXXXXXX
    BB BBBBBBBBBBBXX XXXXXXXXXXXXXXXXXXXXXXXBBBBB
    BB BBBBBBBBBBBBB
      XXXXXXXX XXXXXXXXXXXXX
        XXXXXXXX XXXXXXXBB BBBBBBBBBBBBBBBXXXXXXXXXBBBBBXX
           npgettext(u'number of things', u'%(n)s import', u'%(n)s imports',count) 
            SSSSS SSSSSS
          
            PPPPP PPPPPPP
          
          BB BBBBBBBBBBBBBBBX  pgettext(u'heading', u'dangerous') BBBBB
        XXXXXXXXXX
        XXX XXXXXXXXXXXXX
          BBB BBBB BB BBBBBBBBBBBBB
            XXX BB BBBB BB BBBBBBBBBBBBBBBXXXXXXXXXXXXXXXXXXBBBBBXXXXXX
          BBBBBB
        XXXXX
      XXXXXXXXXX
    BBBBB
    BB BBBBBBBBBB
      XXXXXXXX XXXXXXXXXXXXX
        XXXXXXXXX pgettext(u'heading', u'Metadata') XXXXXXXXXX
        XXX XXXXXXXXXXXXXX
          BBB BBBB BBBBB BB BBBBBBBBBBBBBBBB
            XXX XXXXXXXXXXXXXXXXXX
            XXX XXXXXXXXXXXXX
              FFFFFFFFFFFFFFFFF
            XXXXX
          BBBBBB
        XXXXX
      XXXXXXXXXX
    BBBBB
    BB BBBBBBB
      XXXXXXXX XXXXXXXXXXXXX
        XXXXXXXXX
           npgettext(u'number of things', u'%(n)s tensor', u'%(n)s tensors',count) 
            SSSSS SSSSSS
          
            PPPPP PPPPPPP
          
        XXXXXXXXXX
        XXX XXXXXXXXXXXXXX
          BBB BBBBBB BB BBBBBBB
            XXX XXXXXXXXXXXXXXXXXX
            XXX XXXXXXXXXXXXX
               FFFFFF F F
            XXXXX
          BBBBBB
        XXXXX
      XXXXXXXXXX
    BBBBB
    BB BBBBBBBB BB BBBBBBBBB
      XXXXXXXX XXXXXXXXXXXXX
        XXXXXXXXX gettext(u'Inputs and outputs') XXXXXXXXXX
        XXX XXXXXXXXXXXXXX
          BBB BBBBBB BB BBBBBBBB
            XXX XXXXXXXXXXXXXXXXXX
            XXX XXXXXXXXXXXXX
               pgettext(u'value', u'input')   FFFFFF F F
            XXXXX
          BBBBBB
          BBB BBBBBB BB BBBBBBBBB
            XXX XXXXXXXXXXXXXXXXXX
            XXX XXXXXXXXXXXXX
               pgettext(u'value', u'output')   FFFFFF F F
            XXXXX
          BBBBBB
        XXXXX
      XXXXXXXXXX
    BBBBB
  XXXXXX
BBBBBBB
